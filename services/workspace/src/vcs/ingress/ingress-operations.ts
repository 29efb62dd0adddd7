/** Commits become configurations: fetched once for each event, for all workspaces that it concerns. */
import { newResourceId } from '@keelson/jsonapi';
import type { Transaction, TransactOptions } from '@keelson/storage';
import { hasRuns } from '../../runs/executors/run-executor-operations.ts';
import { failWaitingRun } from '../../runs/runs/run-changes.ts';
import { queueRun } from '../../runs/runs/run-creation.ts';
import { storeUploaded } from '../../state/configuration-versions/configuration-version-operations.ts';
import {
  configurationVersionRecords,
  workspaceConfigurationVersions,
} from '../../state/configuration-versions/configuration-version-records.ts';
import { findReadme } from '../../state/configuration-versions/readme-reader.ts';
import {
  adoptContent,
  type LooseContent,
  readLooseContent,
  shareContent,
  storeContent,
} from '../../state/contents/state-content-operations.ts';
import {
  type ConfigurationVersion,
  type Ingress,
  MAX_ARCHIVE_BYTES,
} from '../../state/model/domain/configuration-version.ts';
import type { RepositoryEvent } from '../../workspaces/model/domain/repository-event.ts';
import type { RepositoryHook } from '../../workspaces/model/domain/repository-hook.ts';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import {
  findRepositoryHookById,
  type QueuedWork,
  repositoryWork,
  repositoryWorkspaces,
  type WorkKey,
  writeRepositoryHook,
} from '../../workspaces/model/repository-records.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';
import { type Commit, FetchedRepository } from '../git/fetched-repository.ts';
import { archiveCommit } from '../git/repository-archive.ts';
import { type DeliveryEffect, noteDelivery } from '../hooks/delivery-records.ts';
import { RepositoryFailure } from '../model/repository-failure.ts';
import type { LoadedRepository } from '../providers/remote-repository-operations.ts';
import { loadRepository } from '../providers/remote-repository-operations.ts';
import type { VcsContext } from '../seams/vcs-context.ts';
import {
  concernsFiles,
  dependsOnFiles,
  findDisregard,
  followedBranch,
  queuesRuns,
} from '../triggers/domain/triggers.ts';

type FetchWork = Extract<QueuedWork['work'], { kind: 'fetch' }>;

/** The files of a commit, with or without those of its submodules. */
interface Archive {
  readonly content: LooseContent;
  /** By working directory. */
  readonly readmes: ReadonlyMap<string, string | null>;
}

/** The result of a fetch. */
interface Fetched {
  readonly commit: Commit;
  readonly defaultBranch: string;
  readonly accepted: readonly Workspace[];
  readonly effects: readonly DeliveryEffect[];
  readonly archives: ReadonlyMap<boolean, Archive>;
}

const loadWorkspaces = async (
  { store }: Pick<VcsContext, 'store'>,
  hookId: string,
): Promise<readonly Workspace[]> => {
  const ids = await repositoryWorkspaces.keys(store, [hookId]);
  const found = await Promise.all(ids.map((id) => workspaceRecords.find(store, id)));
  return found.filter((workspace) => workspace !== undefined);
};

/** The reference whose commit an event is about; undefined: the branch that a new workspace follows. */
const refOf = (event: RepositoryEvent): string | undefined => {
  switch (event.kind) {
    case 'connection':
      return undefined;
    case 'push':
      return `refs/heads/${event.branch}`;
    case 'tag':
      return `refs/tags/${event.tag}`;
    case 'pull-request':
      return `refs/heads/${event.sourceBranch}`;
  }
};

/** Files that an event has changed; undefined if unknown, for example for a new branch. */
const findChanged = async (
  repository: FetchedRepository,
  folder: string,
  event: RepositoryEvent,
  sha: string,
): Promise<readonly string[] | undefined> => {
  const base = 'baseSha' in event ? event.baseSha : null;
  if (base === null) return undefined;
  try {
    await repository.fetch(folder, repository.cloneUrl, base);
    return await repository.changedFiles(folder, base, sha);
  } catch (error) {
    // A server need not give out a commit that no reference names.
    if (error instanceof RepositoryFailure) return undefined;
    throw error;
  }
};

const storeArchive = async (
  context: VcsContext,
  repository: FetchedRepository,
  folder: string,
  sha: string,
  workspaces: readonly Workspace[],
  withSubmodules: boolean,
): Promise<Archive> => {
  let sizeBytes = 0;
  const pieces = archiveCommit(repository, folder, sha, withSubmodules);
  const content = await storeContent(context, pieces, (piece) => {
    sizeBytes += piece.byteLength;
    if (sizeBytes > MAX_ARCHIVE_BYTES) {
      throw new RepositoryFailure(
        `the archive of the commit is larger than ${MAX_ARCHIVE_BYTES} bytes`,
        { isFinal: true },
      );
    }
  });
  const readmes = new Map<string, string | null>();
  for (const { settings } of workspaces) {
    const directory = settings.workingDirectory ?? '';
    if (readmes.has(directory)) continue;
    readmes.set(directory, await findReadme(readLooseContent(context.store, content), directory));
  }
  return { content, readmes };
};

const withSubmodulesOf = ({ settings }: Workspace): boolean =>
  settings.vcsRepo?.ingressSubmodules === true;

/** Fetches what an event is about. @throws RepositoryFailure */
const fetchEvent = (
  context: VcsContext,
  { provider, repository: remote, sshKey }: LoadedRepository,
  workspaces: readonly Workspace[],
  event: RepositoryEvent,
): Promise<Fetched> => {
  const source = {
    cloneUrl: provider.cloneUrl(remote),
    username: provider.username,
    token: remote.connection.token,
    sshKey,
  };
  return FetchedRepository.use(source, context.fetchLimits, context.outbound, async (fetched) => {
    const { defaultBranch } = await fetched.lookUp();
    const effects: DeliveryEffect[] = [];
    const concerned = workspaces.filter((workspace) => {
      const text = findDisregard(workspace, event, defaultBranch);
      if (text !== undefined) effects.push({ workspaceId: workspace.id, text });
      return text === undefined;
    });
    const [first] = concerned;
    const none = { defaultBranch, accepted: [], effects, archives: new Map() };
    if (first === undefined) return { ...none, commit: { sha: '', author: '', message: '' } };
    const branch = followedBranch(first.settings, defaultBranch);
    if (branch === '') throw new RepositoryFailure('the repository has no commits yet');
    const folder = await fetched.create();
    const ref = refOf(event) ?? `refs/heads/${branch}`;
    const sha = await fetched.fetch(folder, fetched.cloneUrl, ref);
    const commit = await fetched.describe(folder, sha);
    const changed = concerned.some(({ settings }) => dependsOnFiles(settings, event))
      ? await findChanged(fetched, folder, event, sha)
      : undefined;
    const accepted = concerned.filter(({ id, settings }) => {
      const concerns = !dependsOnFiles(settings, event) || concernsFiles(settings, changed);
      if (!concerns) effects.push({ workspaceId: id, text: 'no monitored file has changed' });
      return concerns;
    });
    const archives = new Map<boolean, Archive>();
    for (const withSubmodules of [false, true]) {
      const wanting = accepted.filter((one) => withSubmodulesOf(one) === withSubmodules);
      if (wanting.length === 0) continue;
      const archive = await storeArchive(context, fetched, folder, sha, wanting, withSubmodules);
      archives.set(withSubmodules, archive);
    }
    return { commit, defaultBranch, accepted, effects, archives };
  });
};

const toIngress = (
  { provider, repository }: LoadedRepository,
  event: RepositoryEvent,
  { commit, defaultBranch }: Pick<Fetched, 'commit' | 'defaultBranch'>,
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
    queuesRuns(workspace) && (event.kind !== 'connection' || workspace.settings.queueAllRuns),
  speculative: event.kind === 'pull-request',
  provisional: false,
  archive: null,
  createdById: null,
  hasRun: false,
  announcedWith: null,
  createdAtMs: nowMs,
});

const announce = (tx: Transaction, version: ConfigurationVersion): void => {
  configurationVersionRecords.write(tx, [version.id], version);
  workspaceConfigurationVersions.write(tx, [version.workspaceId, version.id], {});
};

/** Whether the workspace's newest configuration is this commit already, after a push that was overtaken. */
const hasCommit = async (
  tx: Transaction,
  { currentConfigurationVersionId }: Workspace,
  event: RepositoryEvent,
  { commitSha }: Ingress,
): Promise<boolean> => {
  if (event.kind !== 'push') return false;
  const version = await configurationVersionRecords.find(tx, currentConfigurationVersionId ?? '');
  return version?.ingress?.commitSha === commitSha && version.ingress.tag === null;
};

/** Gives one workspace the files of a commit. @returns the outcome */
const ingest = async (
  context: VcsContext,
  tx: Transaction,
  loaded: LoadedRepository,
  event: RepositoryEvent,
  fetched: Fetched,
  { id }: Workspace,
  adopted: Map<string, boolean>,
): Promise<string> => {
  const workspace = await workspaceRecords.find(tx, id);
  const archive = workspace && fetched.archives.get(withSubmodulesOf(workspace));
  if (workspace === undefined || archive === undefined)
    return 'the workspace has changed meanwhile';
  const ingress = toIngress(loaded, event, fetched, workspace);
  if (await hasCommit(tx, workspace, event, ingress))
    return `the workspace has the configuration of ${ingress.commitSha} already`;
  const { content, readmes } = archive;
  const nowMs = context.clock.nowMs();
  const version = { ...newVersion(workspace, loaded.provider.source, event, nowMs), ingress };
  const stored = adopted.has(content.id)
    ? await shareContent(tx, content)
    : await adoptContent(context, tx, content);
  adopted.set(content.id, true);
  if (stored === null) throw new Error(`${content.id} is gone`);
  announce(tx, version);
  await storeUploaded(context, tx, {
    workspace,
    version,
    archive: { id: stored.id, sizeBytes: stored.sizeBytes },
    readme: readmes.get(workspace.settings.workingDirectory ?? '') ?? null,
    // The administrator who connected the workspace has decided whether applies are automatic.
    mayApply: true,
  });
  return version.autoQueueRuns
    ? `a run of ${version.id} was queued`
    : `${version.id} was stored; runs follow pushes after the first run that somebody queues, or with queue-all-runs`;
};

/** Work on an event in a repository. @throws RepositoryFailure */
export const fetchRepository = async (
  context: VcsContext,
  key: WorkKey,
  { hookId, event, deliveryKey }: FetchWork,
  options: TransactOptions,
): Promise<void> => {
  const { store } = context;
  const hook = await findRepositoryHookById(store, hookId);
  const loaded = hook && (await loadRepository(store, hook));
  const workspaces = hook === undefined ? [] : await loadWorkspaces(context, hookId);
  const fetched =
    loaded === undefined || workspaces.length === 0
      ? undefined
      : await fetchEvent(context, loaded, workspaces, event);
  await store.transact(async (tx) => {
    // If a newer event has taken its place meanwhile, the work is still to be done.
    const queued = await repositoryWork.find(tx, ...key);
    if (queued?.work.kind === 'fetch' && queued.work.deliveryKey === deliveryKey)
      repositoryWork.delete(tx, ...key);
    const current = await findRepositoryHookById(tx, hookId);
    if (current === undefined || fetched === undefined || loaded === undefined) return;
    const effects = [...fetched.effects];
    const adopted = new Map<string, boolean>();
    for (const workspace of fetched.accepted) {
      const text = await ingest(context, tx, loaded, event, fetched, workspace, adopted);
      effects.push({ workspaceId: workspace.id, text });
    }
    const { defaultBranch } = fetched;
    if (current.fetchProblem !== null || current.defaultBranch !== defaultBranch)
      writeRepositoryHook(tx, { ...current, defaultBranch, fetchProblem: null });
    await noteDelivery(tx, hookId, deliveryKey, { outcome: 'done', detail: null, effects });
  }, options);
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
  await noteDelivery(tx, hookId, deliveryKey, { outcome: 'failed', detail: problem });
  for (const id of await repositoryWorkspaces.keys(tx, [hookId])) {
    const workspace = await workspaceRecords.find(tx, id);
    const disregard = workspace && findDisregard(workspace, event, hook.defaultBranch ?? '');
    if (workspace === undefined || disregard !== undefined) continue;
    const nowMs = clock.nowMs();
    const version: ConfigurationVersion = {
      ...newVersion(workspace, loaded.provider.source, event, nowMs),
      status: 'errored',
      statusTimesMs: { errored: nowMs },
      errorMessage: problem,
    };
    announce(tx, version);
    if (!version.autoQueueRuns || !(await hasRuns(tx, workspace))) continue;
    const origin = {
      source: 'tfe-configuration-version',
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
export const noteFetchProblem = async (
  tx: Transaction,
  { hookId, deliveryKey }: FetchWork,
  problem: string,
): Promise<void> => {
  const hook: RepositoryHook | undefined = await findRepositoryHookById(tx, hookId);
  if (hook !== undefined) writeRepositoryHook(tx, { ...hook, fetchProblem: problem });
  await noteDelivery(tx, hookId, deliveryKey, { outcome: 'retried', detail: problem });
};
