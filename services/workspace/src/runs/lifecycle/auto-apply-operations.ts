/**
 * Automatic applies. Whoever wanted one may have lost the right, or the workspace the setting, while the run
 * waited and was planned, so both are looked up again when the plan has ended.
 */
import { type Reads, unlessDamaged } from '@keelson/storage';
import { findPrincipalOf } from '../../identity/tokens/principal-operations.ts';
import { findWorkspacePermissions } from '../../workspaces/access/access-operations.ts';
import { decideAutoDestroy } from '../../workspaces/model/domain/auto-destroy.ts';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import { projectRecords } from '../../workspaces/model/project-records.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';
import { findWorkspaceState } from '../../workspaces/model/workspace-state-records.ts';
import { AUTO_DESTROY_SOURCE, RUN_TRIGGER_SOURCE, type Run } from '../model/domain/run.ts';
import type { RunsContext } from '../seams/runs-context.ts';

type Lookup = (
  context: Pick<RunsContext, 'tokenOwners' | 'clock'>,
  reads: Reads,
  workspace: Workspace,
  run: Run,
) => Promise<boolean>;

interface Rule {
  readonly isAllowed: Lookup;
  /** Why the run waits if it is not. */
  readonly otherwise: string;
}

const ofRequester: Rule = {
  isAllowed: async ({ tokenOwners, clock }, reads, workspace, { requestedWith }) => {
    const tokenId = requestedWith ?? '';
    const principal = await findPrincipalOf(tokenOwners, reads, tokenId, clock.nowMs());
    if (principal === undefined) return false;
    const permissions = await findWorkspacePermissions(reads, principal, workspace);
    return permissions?.canQueueApply === true;
  },
  otherwise: 'the requester of the run, or the token it was requested with, may no longer apply',
};

/** For runs that no request asked for, an administrator of the workspace has set when they are applied. */
const ofRunTrigger: Rule = {
  isAllowed: async (_context, _reads, { settings }) => settings.autoApplyRunTrigger,
  otherwise: 'auto-apply-run-trigger of the workspace was switched off',
};

const ofRepository: Rule = {
  isAllowed: async (_context, _reads, { settings }) => settings.autoApply,
  otherwise: 'auto-apply of the workspace was switched off',
};

const ofAutoDestroy: Rule = {
  isAllowed: async ({ clock }, reads, workspace) => {
    const project = await projectRecords.find(reads, workspace.projectId);
    if (project === undefined) return false;
    const { latestChangeAtMs } = await findWorkspaceState(reads, workspace);
    const { atMs: dueAtMs } = decideAutoDestroy({ ...workspace, latestChangeAtMs }, project);
    return workspace.settings.allowDestroyPlan && dueAtMs !== null && dueAtMs <= clock.nowMs();
  },
  otherwise: 'the workspace is not to be destroyed automatically any more',
};

const ruleOf = ({ requestedWith, source }: Run): Rule => {
  if (requestedWith !== null) return ofRequester;
  if (source === RUN_TRIGGER_SOURCE) return ofRunTrigger;
  return source === AUTO_DESTROY_SOURCE ? ofAutoDestroy : ofRepository;
};

/**
 * Why a run that was to be applied automatically has to wait for a confirmation; undefined if it has not.
 * Records that cannot be read allow nothing.
 */
export const findReasonToWait = async (
  context: Pick<RunsContext, 'tokenOwners' | 'clock'>,
  reads: Reads,
  run: Run,
): Promise<string | undefined> => {
  if (!run.autoApply) return undefined;
  const { isAllowed, otherwise } = ruleOf(run);
  const workspace = await workspaceRecords.find(reads, run.workspaceId);
  const allowed =
    workspace !== undefined &&
    ((await unlessDamaged(isAllowed(context, reads, workspace, run))) ?? false);
  return allowed ? undefined : `waits for a confirmation: ${otherwise}`;
};
