/** The status of a commit at its provider follows the run that it has started. */

import { publicAddress } from '../../base/public-address.ts';
import { organizationRecords } from '../../identity/model/organization-records.ts';
import type { Run } from '../../runs/model/domain/run.ts';
import { runRecords } from '../../runs/model/run-records.ts';
import { findRepositoryHook } from '../../workspaces/model/repository-records.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';
import type { CommitState } from '../providers/provider.ts';
import type { ProviderErrand } from '../providers/provider-errand.ts';
import { loadRepository } from '../providers/remote-repository-operations.ts';
import type { VcsContext } from '../seams/vcs-context.ts';

interface Shown {
  readonly state: CommitState;
  readonly description: string;
}

const counted = ({ planned, applied }: Run): string => {
  const counts = applied ?? planned;
  return counts === null
    ? ''
    : `: ${counts.additions} to add, ${counts.changes} to change, ${counts.destructions} to destroy`;
};

/** @returns a state with a text of at most 140 characters, which is what GitHub keeps */
export const toCommitState = (run: Run): Shown => {
  switch (run.status) {
    case 'pending':
      return { state: 'running', description: 'The run is queued' };
    case 'planning':
      return { state: 'running', description: 'The plan is running' };
    case 'planned':
    case 'planned_and_saved':
      return { state: 'attention', description: `Waits to be confirmed${counted(run)}` };
    case 'planned_and_finished':
      return { state: 'success', description: `Planned${counted(run)}` };
    case 'confirmed':
    case 'applying':
      return { state: 'running', description: 'The apply is running' };
    case 'applied':
      return { state: 'success', description: 'Applied' };
    case 'errored':
      return { state: 'failure', description: 'The run has failed' };
    case 'discarded':
      return { state: 'canceled', description: 'The plan was discarded' };
    case 'canceled':
    case 'force_canceled':
      return { state: 'canceled', description: 'The run was canceled' };
  }
};

/**
 * The report of the status that a run has now; undefined if there is no commit or repository for it, or no
 * public address at which the commit's readers would find the run.
 */
export const prepareStatusReport = async (
  context: VcsContext,
  runId: string,
): Promise<ProviderErrand | undefined> => {
  const { store } = context;
  const run = await runRecords.find(store, runId);
  const workspace = run && (await workspaceRecords.find(store, run.workspaceId));
  const organization = run && (await organizationRecords.find(store, run.organizationId));
  const hook = workspace && (await findRepositoryHook(store, workspace.settings.vcsRepo));
  const loaded = hook && (await loadRepository(store, hook));
  if (!run?.commitSha || !workspace || !organization || !hook || !loaded) return undefined;
  const place = `${organization.name}/${workspace.name}`;
  const targetUrl = publicAddress(context, `/app/${place}/runs/${run.id}`);
  if (targetUrl === null) return undefined;
  const status = {
    ...toCommitState(run),
    commitSha: run.commitSha,
    context: `keelson/${place}`,
    targetUrl,
  };
  return {
    request: loaded.provider.reportStatus(loaded.repository, status),
    complete: () => Promise.resolve(),
  };
};
