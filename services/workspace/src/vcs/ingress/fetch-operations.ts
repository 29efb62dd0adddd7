/** Fetching the commit of an event from its provider, for the control plane and for agents. */
import { createReadStream } from 'node:fs';
import {
  type CommitRequest,
  type FetchSource,
  fetchCommit,
  RepositoryFailure,
} from '@keelson/repositories';
import type { Transaction, TransactOptions } from '@keelson/storage';
import { findReadme } from '../../state/configuration-versions/readme-reader.ts';
import { readLooseContent, storeContent } from '../../state/contents/state-content-operations.ts';
import { MAX_ARCHIVE_BYTES } from '../../state/model/domain/configuration-version.ts';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import {
  findRepositoryHookById,
  repositoryWork,
  repositoryWorkspaces,
  type WorkKey,
  workNameOf,
} from '../../workspaces/model/repository-records.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';
import type { CommitArchive } from '../model/commit-archive.ts';
import type { FetchWork } from '../model/waiting-fetches.ts';
import { requireClientOn } from '../providers/disabled-clients.ts';
import { sendToProvider } from '../providers/provider-requests.ts';
import {
  type LoadedRepository,
  loadRepository,
} from '../providers/remote-repository-operations.ts';
import type { VcsContext } from '../seams/vcs-context.ts';
import { endAttempt } from './attempt-operations.ts';
import { type Choice, chooseWorkspaces, toCommitRequest } from './fetch-choice.ts';
import { type FetchedCommit, finishFetch } from './ingress-operations.ts';

/** The parts that a fetch needs; `request` is undefined if the event concerns no workspace. */
export interface PreparedFetch {
  readonly loaded: LoadedRepository;
  readonly workspaces: readonly Workspace[];
  readonly request: CommitRequest | undefined;
}

/** @returns undefined if the repository is no longer connected */
export const prepareFetch = async (
  { store }: Pick<VcsContext, 'store'>,
  { hookId, event }: FetchWork,
): Promise<PreparedFetch | undefined> => {
  const hook = await findRepositoryHookById(store, hookId);
  const loaded = hook && (await loadRepository(store, hook));
  if (loaded === undefined) return undefined;
  const ids = await repositoryWorkspaces.keys(store, [hookId]);
  const found = await Promise.all(ids.map((id) => workspaceRecords.find(store, id)));
  const workspaces = found.filter((workspace) => workspace !== undefined);
  return { loaded, workspaces, request: toCommitRequest(workspaces, event) };
};

/** For git over HTTP, with the token. */
export const toFetchSource = ({ provider, repository, sshKey }: LoadedRepository): FetchSource => ({
  cloneUrl: provider.cloneUrl(repository),
  username: provider.username,
  token: repository.connection.token,
  sshKey,
});

/** Where the commits of a repository are fetched. @throws RepositoryFailure */
const findFetchSource = async (
  { outbound }: VcsContext,
  loaded: LoadedRepository,
): Promise<FetchSource> => {
  const { provider, repository, sshKey } = loaded;
  if (repository.connection.signing === null || provider.ssh === undefined)
    return toFetchSource(loaded);
  if (sshKey === undefined)
    throw new RepositoryFailure(
      'repositories of a client with a key pair are fetched over SSH: give its OAuth token an SSH key',
    );
  const answer = await sendToProvider(outbound, provider.ssh.findAddress(repository));
  const cloneUrl = provider.ssh.addressOf(answer);
  return { cloneUrl, username: provider.username, token: undefined, sshKey };
};

/** Whether a workspace wants the files of submodules. */
export const withSubmodulesOf = ({ settings }: Workspace): boolean =>
  settings.vcsRepo?.ingressSubmodules === true;

/**
 * Stores an archive with the READMEs of the workspaces that get it.
 * @param observe sees every piece before it is stored, and may refuse by throwing
 */
export const storeArchive = async (
  context: VcsContext,
  pieces: AsyncIterable<Uint8Array>,
  workspaces: readonly Workspace[],
  observe: (piece: Uint8Array) => void = () => undefined,
): Promise<CommitArchive> => {
  const content = await storeContent(context, pieces, observe);
  const directories = new Set(workspaces.map(({ settings }) => settings.workingDirectory ?? ''));
  const readmes: { directory: string; text: string | null }[] = [];
  for (const directory of directories) {
    const text = await findReadme(await readLooseContent(context, content), directory);
    readmes.push({ directory, text });
  }
  return { content, readmes };
};

/** @throws RepositoryFailure, WorkerDeath */
const fetchAndStore = async (
  context: VcsContext,
  { event }: FetchWork,
  { loaded, workspaces }: PreparedFetch,
  request: CommitRequest,
): Promise<{ readonly fetched: FetchedCommit | undefined; readonly choice: Choice }> => {
  const { fetchLimits, outbound } = context;
  const source = await findFetchSource(context, loaded);
  const wantingOf = ({ accepted }: Choice, withSubmodules: boolean): readonly Workspace[] =>
    accepted.filter((one) => withSubmodulesOf(one) === withSubmodules);
  const archives: { plain?: CommitArchive; withSubmodules?: CommitArchive } = {};
  let choice = chooseWorkspaces(workspaces, event, undefined);
  const { commit, defaultBranch } = await fetchCommit(
    { source, limits: fetchLimits, request, archiveLimitBytes: MAX_ARCHIVE_BYTES },
    {
      addresses: outbound,
      choose: (found) => {
        choice = chooseWorkspaces(workspaces, event, found);
        return [false, true].filter(
          (kind) => found.commit !== null && wantingOf(choice, kind).length > 0,
        );
      },
      take: async (withSubmodules, file) => {
        const wanting = wantingOf(choice, withSubmodules);
        const archive = await storeArchive(context, createReadStream(file), wanting);
        archives[withSubmodules ? 'withSubmodules' : 'plain'] = archive;
      },
    },
  );
  if (commit === null) return { fetched: undefined, choice };
  return { fetched: { commit, defaultBranch, archives }, choice };
};

/** Does the work on an event in a repository. @throws RepositoryFailure */
export const fetchRepository = async (
  context: VcsContext,
  key: WorkKey,
  work: FetchWork,
  options: TransactOptions,
): Promise<void> => {
  const prepared = await prepareFetch(context, work);
  const { fetched, choice } =
    prepared?.request === undefined
      ? { fetched: undefined, choice: undefined }
      : await fetchAndStore(context, work, prepared, prepared.request);
  await context.store.transact(async (tx: Transaction) => {
    // Its client may have been switched off meanwhile.
    await requireClientOn(tx, work);
    // If a newer event has taken its place meanwhile, the work is still to be done.
    endAttempt(tx, key[0], workNameOf(key));
    const queued = await repositoryWork.find(tx, ...key);
    if (queued?.work.kind === 'fetch' && queued.work.deliveryKey === work.deliveryKey)
      repositoryWork.delete(tx, ...key);
    if (prepared === undefined) return;
    const { workspaces, loaded } = prepared;
    const chosen = choice ?? chooseWorkspaces(workspaces, work.event, undefined);
    await finishFetch(context, tx, work, { loaded, choice: chosen, fetched });
  }, options);
};
