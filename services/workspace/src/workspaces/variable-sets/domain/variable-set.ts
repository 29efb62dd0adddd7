/** Sets of variables that several workspaces share, and the workspaces that they reach. */
import { attributeViolation, type Violation } from '../../../base/validation/domain/violation.ts';
import type { Workspace } from '../../model/domain/workspace.ts';
import type { VariableContent } from '../../variables/domain/variable.ts';

export interface VariableSet {
  /** `varset-…`. */
  readonly id: string;
  readonly organizationId: string;
  /** `prj-…` that owns it; null: the organization does. */
  readonly ownerProjectId: string | null;
  readonly name: string;
  readonly description: string;
  /** Whether the set applies to every workspace of the organization. */
  readonly global: boolean;
  /** Whether its variables override those of narrower scopes and of the command line. */
  readonly priority: boolean;
  /** Ids of the workspaces that it is applied to. */
  readonly workspaceIds: readonly string[];
  /** Projects all of whose workspaces it reaches. */
  readonly projectIds: readonly string[];
  readonly variableIds: readonly string[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** A variable of a set. */
export interface SetVariable extends VariableContent {
  readonly variableSetId: string;
}

export type VariableSetScope = 'global' | 'project' | 'workspace';

/** Maximum number of workspaces, and of projects, that a set is applied to. */
export const MAX_ASSIGNED = 5000;

/**
 * The scope through which a set reaches a workspace; undefined: it does not. When several scopes match, a
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
