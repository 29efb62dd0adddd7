/** A repository as far as a fetch needs it: single commits without their history. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AddressLookup, openEgressProxy } from '@keelson/outbound/egress-proxy';
import { type GitOptions, runGit } from './git-program.ts';
import { RepositoryFailure } from './repository-failure.ts';
import { PROXY_OPTION, prepareSsh } from './ssh-key.ts';

export interface FetchLimits {
  readonly timeLimitMs: number;
  /** Transferred from and to servers. */
  readonly limitBytes: number;
}

export interface FetchSource {
  readonly cloneUrl: string;
  readonly username: string;
  /** Undefined if the repository is fetched over SSH. */
  readonly token: string | undefined;
  /** Private key for fetches over SSH; undefined if there are none. */
  readonly sshKey: string | undefined;
}

export interface Commit {
  readonly sha: string;
  readonly author: string;
  readonly message: string;
}

/** Above this number of changed files, the paths are treated as unknown. */
const MAX_CHANGED = 5000;
const MAX_MESSAGE_LENGTH = 4096;

/** ssh connects through the proxy of the fetch. */
const toSshCommand = async (folder: string, key: string): Promise<string> =>
  (await prepareSsh(folder, key, [PROXY_OPTION])).command;

export class FetchedRepository implements AsyncDisposable {
  readonly cloneUrl: string;
  /** For further repositories of the same fetch. */
  readonly git: GitOptions;
  #folders = 0;

  private constructor(cloneUrl: string, git: GitOptions) {
    this.cloneUrl = cloneUrl;
    this.git = git;
  }

  /** Runs work on a repository, and removes all that it has stored. @throws RepositoryFailure */
  static async use<T>(
    { cloneUrl, username, token, sshKey }: FetchSource,
    { timeLimitMs, limitBytes }: FetchLimits,
    addresses: AddressLookup,
    work: (repository: FetchedRepository) => Promise<T>,
  ): Promise<T> {
    const folder = await mkdtemp(join(tmpdir(), 'keelson-fetch-'));
    const signal = AbortSignal.timeout(timeLimitMs);
    await using proxy = await openEgressProxy({
      addresses,
      limit: {
        bytes: limitBytes,
        excess: `the repository is larger than the ${limitBytes} bytes that a fetch may transfer`,
      },
    });
    const { origin } = new URL(cloneUrl);
    const credentials = token === undefined ? undefined : { origin, username, password: token };
    const sshCommand = sshKey === undefined ? undefined : await toSshCommand(folder, sshKey);
    const git = { folder, proxyUrl: proxy.url, credentials, sshCommand, signal };
    await using repository = new FetchedRepository(cloneUrl, git);
    await mkdir(repository.emptyFolder);
    try {
      return await work(repository);
    } catch (error) {
      if (signal.aborted)
        throw new RepositoryFailure(
          `the fetch took longer than the ${timeLimitMs / 1000} seconds that it may take`,
        );
      const { refusal } = proxy;
      if (refusal !== undefined) throw new RepositoryFailure(refusal.message, refusal);
      throw error;
    }
  }

  /** The default branch, and the commit of a reference as the server has it now. */
  async lookUp(
    ref?: string,
  ): Promise<{ readonly defaultBranch: string; readonly sha: string | undefined }> {
    const refs = ref === undefined ? [] : [ref];
    const args = ['ls-remote', '--symref', '--', this.cloneUrl, 'HEAD', ...refs];
    const lines = (await runGit(this.git, ...args)).toString().split('\n');
    const head = lines
      .map((line) => /^ref: refs\/heads\/(\S+)\tHEAD$/.exec(line)?.[1])
      .find((branch) => branch !== undefined);
    // Names match at their ends too: only the whole name is meant.
    const found = lines.map((line) => line.split('\t')).find(([, name]) => name === ref);
    return { defaultBranch: head ?? '', sha: found?.[0] };
  }

  /** A folder for git commands that ask for one although they use no files. */
  get emptyFolder(): string {
    return join(this.git.folder, 'empty');
  }

  /** A new, empty repository in this fetch's folder. */
  async create(): Promise<string> {
    const folder = join(this.git.folder, `${(this.#folders += 1)}.git`);
    await runGit(this.git, 'init', '--quiet', '--bare', '--template=', '--', folder);
    return folder;
  }

  /** Fetches one commit. @param wanted a full reference or a commit hash */
  async fetch(folder: string, url: string, wanted: string): Promise<string> {
    const local = `refs/fetched/${wanted.replaceAll('/', '-')}`;
    const fetched = ['fetch', '--quiet', '--no-tags', '--depth=1', '--no-write-fetch-head'];
    const at = ['--git-dir', folder];
    await runGit(this.git, ...at, ...fetched, '--', url, `+${wanted}:${local}`);
    const parsed = await runGit(this.git, ...at, 'rev-parse', '--verify', `${local}^{commit}`);
    return parsed.toString().trim();
  }

  async describe(folder: string, sha: string): Promise<Commit> {
    const form = '--format=%an%x00%B';
    // `git show` would compare all files with those of no commit, even if it shows none of them.
    const args = ['--git-dir', folder, 'log', '--max-count=1', form, sha];
    const [author = '', message = ''] = (await runGit(this.git, ...args)).toString().split('\0');
    return { sha, author, message: message.trim().slice(0, MAX_MESSAGE_LENGTH) };
  }

  /** Paths that differ between two commits; undefined if there are too many. */
  async changedFiles(
    folder: string,
    from: string,
    to: string,
  ): Promise<readonly string[] | undefined> {
    const options = ['diff-tree', '-r', '-z', '--name-only', '--no-renames'];
    const listed = await runGit(this.git, '--git-dir', folder, ...options, from, to);
    const paths = listed.toString().split('\0').slice(0, -1);
    return paths.length > MAX_CHANGED ? undefined : paths;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.git.folder, { recursive: true, force: true });
  }
}
