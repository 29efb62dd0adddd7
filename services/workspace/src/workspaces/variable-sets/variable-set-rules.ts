/** Rules for changes of a variable set that need other records: its targets, global sets, its variables. */
import { KeelsonError } from '@keelson/errors';
import { refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import { requireProject, requireWorkspace } from '../access/access-operations.ts';
import { checkVariable, type VariableContent } from '../variables/domain/variable.ts';
import { MAX_VARIABLES } from '../variables/variable-operations.ts';
import type { SetVariable, VariableSet } from './domain/variable-set.ts';
import { loadSetsAppliedTo, loadSetVariables } from './variable-set-records.ts';

/** Kind of target that a set is applied to by id, as named in the API. */
export type TargetKind = 'workspaces' | 'projects';

/**
 * Applying a set passes its values to the target's runs, so it requires the right to write variables there.
 * @param pointer to the list of identifiers in the request
 * @throws KeelsonError `workspace.not_found`, `jsonapi.invalid_attribute`
 */
export const requireTargets = async (
  reads: Reads,
  principal: Principal,
  { organizationId, ownerProjectId }: VariableSet,
  { kind, ids, pointer }: { kind: TargetKind; ids: readonly string[]; pointer: string },
): Promise<void> => {
  for (const [at, id] of ids.entries()) {
    let projectId: string;
    if (kind === 'workspaces') {
      const address = { workspaceId: id };
      const { workspace } = await requireWorkspace(reads, principal, address, 'canUpdateVariable');
      if (workspace.organizationId !== organizationId) throw notFound('workspace');
      projectId = workspace.projectId;
    } else {
      const { project } = await requireProject(reads, principal, id, 'canManageVarsets');
      if (project.organizationId !== organizationId) throw notFound('project');
      projectId = id;
    }
    if (ownerProjectId === null || ownerProjectId === projectId) continue;
    const text =
      'a variable set that a project owns is applied to this project and to its workspaces alone';
    refuseInvalid([{ pointer: `${pointer}/${at}/id`, text }]);
  }
};

/**
 * Among all global sets, a key of a category may occur only once, because no rule would decide between two.
 */
export const requireNoGlobalConflict = async (
  reads: Reads,
  set: VariableSet,
  variables: readonly VariableContent[],
  attribute: 'global' | 'key',
): Promise<void> => {
  if (!set.global) return;
  const keys = new Set(variables.map(({ category, key }) => `${category} ${key}`));
  for (const other of await loadSetsAppliedTo(reads, [set.organizationId])) {
    if (other.id === set.id) continue;
    const conflict = (await loadSetVariables(reads, other)).find(({ category, key }) =>
      keys.has(`${category} ${key}`),
    );
    if (conflict === undefined) continue;
    const text = `the global variable set ${other.name} has the ${conflict.category} variable ${conflict.key} already`;
    refuseInvalid([attributeViolation(attribute, text)]);
  }
};

/**
 * @param variables variables of the set after the request
 * @param changed the new or changed ones, with their former values and their positions in the request
 */
export const requireSetVariables = (
  variables: readonly SetVariable[],
  changed: readonly {
    readonly next: SetVariable;
    readonly current: SetVariable | undefined;
    readonly pointer: string;
  }[],
): void => {
  if (variables.length > MAX_VARIABLES) {
    throw new KeelsonError('workspace.conflict', {
      text: `a variable set holds at most ${MAX_VARIABLES} variables`,
    });
  }
  refuseInvalid(
    changed.flatMap(({ next, current, pointer }) =>
      checkVariable(
        next,
        current,
        variables.filter(({ id }) => id !== next.id),
      ).map((violation) => ({
        pointer: violation.pointer.replace('/data', pointer),
        text: violation.text,
      })),
    ),
  );
};
