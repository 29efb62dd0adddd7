/** Commits become configurations: fetched once for each event, for all workspaces that it concerns. */

import { newResourceId } from '@keelson/jsonapi';
import type { Commit } from '@keelson/repositories';
import { type Transaction, unlessDamaged } from '@keelson/storage';
import { hasRuns } from '../../runs/executors/run-executor-operations.ts';
import { failWaitingRun } from '../../runs/lifecycle/run-changes.ts';
import { queueRun } from '../../runs/lifecycle/run-creation.ts';
import { CONFIGURATION_SOURCE } from '../../runs/model/domain/run.ts';
import { storeUploaded } from '../../state/configuration-versions/configuration-version-operations.ts';
import { configurationVersionRecords } from '../../state/configuration-versions/configuration-version-records.ts';
import { adoptContent, shareContent } from '../../state/contents/state-content-operations.ts';
import type {
  ConfigurationVersion,
  Ingress,
} from '../../state/model/domain/configuration-version.ts';
import type { RepositoryEvent } from '../../workspaces/model/domain/repository-event.ts';
import type { RepositoryHook } from '../../workspaces/model/domain/repository-hook.ts';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import type { WorkspaceRuns } from '../../workspaces/model/domain/workspace-runs.ts';
import {
  findRepositoryHookById,
  repositoryWorkspaces,
  writeRepositoryHook,
} from '../../workspaces/model/repository-records.ts';
import { findWorkspaceConfiguration } from '../../workspaces/model/workspace-configuration-records.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';
import { findWorkspaceRuns } from '../../workspaces/model/workspace-runs-records.ts';
import { recordDelivery } from '../hooks/delivery-records.ts';
import type { CommitArchives } from '../model/commit-archive.ts';
import { type FetchWork, withdrawConnection } from '../model/waiting-fetches.ts';
import type { LoadedRepository } from '../providers/remote-repository-operations.ts';
import { loadRepository } from '../providers/remote-repository-operations.ts';
import type { VcsContext } from '../seams/vcs-context.ts';
import { findDisregard, followedBranch, queuesRuns } from '../triggers/domain/triggers.ts';
import type { Choice } from './fetch-choice.ts';

/** A commit with the archives that workspaces want. */
export interface FetchedCommit {
  readonly commit: Commit;
  readonly defaultBranch: string;
  readonly archives: CommitArchives;
}

const toIngress = (
  { provider, repository }: LoadedRepository,
  event: RepositoryEvent,
  { commit, defaultBranch }: Pick<FetchedCommit, 'commit' | 'defaultBranch'>,
  workspace: Workspace,
): Ingress => {
  const followed = followedBranch(workspace.settings, defaultBranch);
  const branch =
    event.kind === 'pull-request' ? event.sourceBranch : event.kind === 'tag' ? '' : followed;
  return {
    identifier: repository.identifier,
    cloneUrl: provider.cloneUrl(repository),
    commitSha: commit.sha,
    commitMessage: commit.message,
    commitUrl: provider.commitUrl(repository, commit.sha),
    compareUrl: event.kind === 'push' ? event.compareUrl : null,
    branch,
    tag: event.kind === 'tag' ? event.tag : null,
    onDefaultBranch: branch === defaultBranch,
    pullRequest:
      event.kind === 'pull-request'
        ? { number: event.number, title: event.title, body: event.body, url: event.url }
        : null,
    sender: event.kind === 'connection' ? null : event.sender,
  };
};

const newVersion = (
  workspace: Workspace,
  runs: WorkspaceRuns,
  source: string,
  event: RepositoryEvent,
  nowMs: number,
): ConfigurationVersion => ({
  id: newResourceId('cv'),
  workspaceId: workspace.id,
  status: 'pending',
  statusTimesMs: {},
  source,
  autoQueueRuns:
    queuesRuns(workspace.settings, runs) &&
    (event.kind !== 'connection' || workspace.settings.queueAllRuns),
  speculative: event.kind === 'pull-request',
  provisional: false,
  archive: null,
  createdById: null,
  hasRun: false,
  announcedWith: null,
  createdAtMs: nowMs,
});

/** Whether the workspace's newest configuration is this commit already, after a push that was overtaken. */
const hasCommit = async (
  tx: Transaction,
  workspace: Workspace,
  event: RepositoryEvent,
  { commitSha }: Ingress,
): Promise<boolean> => {
  if (event.kind !== 'push') return false;
  // If it cannot be read which configuration is current, this one replaces it.
  const current = await unlessDamaged(findWorkspaceConfiguration(tx, workspace));
  const version = await configurationVersionRecords.find(tx, current?.currentId ?? '');
  return version?.ingress?.commitSha === commitSha && version.ingress.tag === null;
};

/** Gives one workspace the files of a commit. @returns the outcome */
const ingest = async (
  context: VcsContext,
  tx: Transaction,
  loaded: LoadedRepository,
  event: RepositoryEvent,
  fetched: FetchedCommit,
  { id }: Workspace,
  adopted: Map<string, boolean>,
): Promise<string> => {
  const workspace = await workspaceRecords.find(tx, id);
  const { plain, withSubmodules } = fetched.archives;
  const archive = workspace?.settings.vcsRepo?.ingressSubmodules ? withSubmodules : plain;
  if (workspace === undefined || archive === undefined)
    return 'the workspace has changed meanwhile';
  const ingress = toIngress(loaded, event, fetched, workspace);
  if (await hasCommit(tx, workspace, event, ingress))
    return `the workspace has the configuration of ${ingress.commitSha} already`;
  const { content, readmes } = archive;
  const nowMs = context.clock.nowMs();
  const runs = await findWorkspaceRuns(tx, workspace);
  const version = { ...newVersion(workspace, runs, loaded.provider.source, event, nowMs), ingress };
  const stored = adopted.has(content.id)
    ? await shareContent(tx, content)
    : await adoptContent(context, tx, content);
  adopted.set(content.id, true);
  if (stored === null) throw new Error(`${content.id} is gone`);
  await configurationVersionRecords.write(tx, [version.id], version);
  const place = workspace.settings.workingDirectory ?? '';
  await storeUploaded(context, tx, {
    workspace,
    version,
    archive: { id: stored.id, sizeBytes: stored.sizeBytes },
    readme: readmes.find(({ directory }) => directory === place)?.text ?? null,
    // The administrator who connected the workspace has decided whether applies are automatic.
    mayApply: true,
  });
  if (event.kind === 'push') {
    // A connection that could not be fetched until now waits for these files.
    const { organizationId } = workspace;
    const poolId = loaded.repository.connection.agentPoolId;
    await withdrawConnection(tx, { organizationId, poolId }, workspace.id);
  }
  return version.autoQueueRuns
    ? `a run of ${version.id} was queued`
    : `${version.id} was stored; runs follow pushes after the first run that somebody queues, or with queue-all-runs`;
};

/** Gives the chosen workspaces the files of a commit, and records what the event led to. */
export const finishFetch = async (
  context: VcsContext,
  tx: Transaction,
  { hookId, event, deliveryKey }: FetchWork,
  {
    loaded,
    choice,
    fetched,
  }: { loaded: LoadedRepository; choice: Choice; fetched: FetchedCommit | undefined },
): Promise<void> => {
  const hook = await findRepositoryHookById(tx, hookId);
  if (hook === undefined) return;
  const effects = [...choice.effects];
  const adopted = new Map<string, boolean>();
  if (fetched !== undefined) {
    for (const workspace of choice.accepted) {
      const text = await ingest(context, tx, loaded, event, fetched, workspace, adopted);
      effects.push({ workspaceId: workspace.id, text });
    }
  }
  const defaultBranch = fetched?.defaultBranch ?? hook.defaultBranch;
  if (hook.fetchProblem !== null || hook.defaultBranch !== defaultBranch)
    await writeRepositoryHook(tx, { ...hook, defaultBranch, fetchProblem: null });
  await recordDelivery(tx, hookId, deliveryKey, { outcome: 'done', detail: null, effects });
};

/** Creates an errored configuration, and an errored run with the reason, in the workspaces that wait for an event. */
export const giveUpFetch = async (
  context: VcsContext,
  tx: Transaction,
  { hookId, event, deliveryKey }: FetchWork,
  problem: string,
): Promise<void> => {
  const { clock, nextRunOrder } = context;
  const hook = await findRepositoryHookById(tx, hookId);
  const loaded = hook && (await loadRepository(tx, hook));
  if (hook === undefined || loaded === undefined) return;
  await recordDelivery(tx, hookId, deliveryKey, { outcome: 'failed', detail: problem });
  for (const id of await repositoryWorkspaces.keys(tx, [hookId])) {
    const workspace = await workspaceRecords.find(tx, id);
    const disregard = workspace && findDisregard(workspace, event, hook.defaultBranch ?? '');
    if (workspace === undefined || disregard !== undefined) continue;
    const nowMs = clock.nowMs();
    const runs = await findWorkspaceRuns(tx, workspace);
    const version: ConfigurationVersion = {
      ...newVersion(workspace, runs, loaded.provider.source, event, nowMs),
      status: 'errored',
      statusTimesMs: { errored: nowMs },
      errorMessage: problem,
    };
    await configurationVersionRecords.write(tx, [version.id], version);
    if (!version.autoQueueRuns || !(await hasRuns(tx, workspace))) continue;
    const origin = {
      source: CONFIGURATION_SOURCE,
      createdById: null,
      requestedWith: null,
      mayApply: false,
      nowMs,
      order: nextRunOrder(),
    };
    const message = 'The repository could not be fetched';
    const run = await queueRun(tx, workspace, version, { message }, origin);
    await failWaitingRun(tx, run, `The repository could not be fetched: ${problem}`, nowMs);
  }
};

/** Records on the workspaces of a repository what could not be reached. */
export const recordFetchProblem = async (
  tx: Transaction,
  { hookId, deliveryKey }: FetchWork,
  problem: string,
): Promise<void> => {
  const hook: RepositoryHook | undefined = await findRepositoryHookById(tx, hookId);
  if (hook !== undefined) await writeRepositoryHook(tx, { ...hook, fetchProblem: problem });
  await recordDelivery(tx, hookId, deliveryKey, { outcome: 'retried', detail: problem });
};
