/** Sets of variables that several workspaces share, and the workspaces that they reach. */

import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { attributeViolation, type Violation } from '../../../base/validation/domain/violation.ts';
import type { Workspace } from '../../model/domain/workspace.ts';
import { variableContentShape } from '../../variables/domain/variable.ts';

export const variableSetShape = Type.Object({
  /** `varset-…`. */
  id: Type.String(),
  organizationId: Type.String(),
  /** `prj-…` that owns it; null if the organization does. */
  ownerProjectId: nullable(Type.String()),
  name: Type.String(),
  description: Type.String(),
  /** Whether the set applies to every workspace of the organization. */
  global: Type.Boolean(),
  /** Whether its variables override those of narrower scopes and of the command line. */
  priority: Type.Boolean(),
  /** Ids of the workspaces that it is applied to. */
  workspaceIds: Type.Array(Type.String()),
  /** Projects all of whose workspaces it reaches. */
  projectIds: Type.Array(Type.String()),
  variableIds: Type.Array(Type.String()),
  createdAtMs: Type.Number(),
  updatedAtMs: Type.Number(),
});
export type VariableSet = Shaped<typeof variableSetShape>;

/** A variable of a set. */
export const setVariableShape = Type.Object({
  ...variableContentShape.properties,
  variableSetId: Type.String(),
});
export type SetVariable = Shaped<typeof setVariableShape>;

export type VariableSetScope = 'global' | 'project' | 'workspace';

/** Maximum number of workspaces, and of projects, that a set is applied to. */
export const MAX_ASSIGNED = 5000;

/**
 * The scope through which a set reaches a workspace; undefined if it does not. When several scopes match, a
 * priority set uses the broadest and any other set the narrowest, because that is the one that overrides
 * most.
 */
export const findScope = (
  set: VariableSet,
  { id, projectId }: Pick<Workspace, 'id' | 'projectId'>,
): VariableSetScope | undefined => {
  if (set.ownerProjectId !== null && set.ownerProjectId !== projectId) return undefined;
  if (set.global) return 'global';
  const found: VariableSetScope[] = [];
  if (set.projectIds.includes(projectId)) found.push('project');
  if (set.workspaceIds.includes(id)) found.push('workspace');
  return set.priority ? found[0] : found.at(-1);
};

/** Checks the rules for a set as it is after a request. */
export const checkVariableSet = ({
  name,
  global,
  ownerProjectId,
  workspaceIds,
  projectIds,
}: VariableSet): readonly Violation[] => {
  const violations: Violation[] = [];
  if (name.trim() === '') violations.push(attributeViolation('name', 'Name cannot be blank'));
  if (global && ownerProjectId !== null) {
    violations.push(
      attributeViolation('global', 'a variable set that a project owns cannot be global'),
    );
  }
  for (const [kind, ids] of Object.entries({ workspaces: workspaceIds, projects: projectIds })) {
    if (ids.length <= MAX_ASSIGNED) continue;
    const text = `a variable set is applied to at most ${MAX_ASSIGNED} ${kind}; larger groups are reached by their project, or by a global set`;
    violations.push({ pointer: `/data/relationships/${kind}`, text });
  }
  return violations;
};
