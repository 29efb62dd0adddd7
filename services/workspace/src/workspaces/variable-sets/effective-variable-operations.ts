/** The variables that reach a workspace: its own and those of variable sets. */
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import { requireWorkspace } from '../access/access-operations.ts';
import type { Workspace } from '../model/domain/workspace.ts';
import { findWorkspaceVariables } from '../model/workspace-variables-records.ts';
import { loadVariables } from '../variables/variable-operations.ts';
import { decideEffectiveVariables, type EffectiveVariable } from './domain/precedence.ts';
import { loadSetsAppliedTo, loadSetVariables } from './variable-set-records.ts';

/** Variables by descending priority, with the variables that each overrides. */
export const loadEffectiveVariables = async (
  reads: Reads,
  workspace: Workspace,
): Promise<readonly EffectiveVariable[]> => {
  const { id, organizationId, projectId } = workspace;
  const sets = await loadSetsAppliedTo(reads, [organizationId, projectId, id]);
  const loaded = await Promise.all(
    sets.map(async (set) => ({ set, variables: await loadSetVariables(reads, set) })),
  );
  const own = await loadVariables(reads, await findWorkspaceVariables(reads, workspace));
  return decideEffectiveVariables(workspace, own, loaded);
};

export const listEffectiveVariables = async (
  reads: Reads,
  principal: Principal,
  workspaceId: string,
): Promise<readonly EffectiveVariable[]> => {
  const address = { workspaceId };
  const { workspace } = await requireWorkspace(reads, principal, address, 'canReadVariable');
  return loadEffectiveVariables(reads, workspace);
};
