/**
 * The files of a commit as a tar archive under gzip, with those of its submodules where they are wanted. Git joins
 * them to one tree and writes the archive from its objects: nothing of the repository is checked out here.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { pipeline } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { FetchedRepository } from './fetched-repository.ts';
import { runGit, startGit } from './git-program.ts';
import { RepositoryFailure } from './repository-failure.ts';
import { isSshAddress } from './ssh-address.ts';

const MAX_UNPACKED_BYTES = 1024 * 1024 * 1024;
const MAX_FILES = 100_000;
const MAX_SUBMODULES = 50;
const MAX_DEPTH = 5;

/** One of the repositories of an archive. All of their objects are in one folder. */
interface Place {
  readonly folder: string;
  readonly url: string;
  readonly sha: string;
  /** Where its files are in the archive: "" or "modules/one/". */
  readonly prefix: string;
  readonly depth: number;
}

const tooMuch = (what: string): RepositoryFailure =>
  new RepositoryFailure(`the repository has more than ${what}`, { isFinal: true });

/** Size of a file in a line of `ls-tree --long`; zero for others. */
const SIZE = /^\d+ blob [0-9a-f]+ +(\d+)\t/;

/** @throws RepositoryFailure for a tree whose files are too many or too large together */
const requireLimits = async (
  { git }: FetchedRepository,
  folder: string,
  tree: string,
): Promise<void> => {
  const args = ['--git-dir', folder, 'ls-tree', '-r', '-z', '--long', '--full-tree', tree];
  const { stdout, ended } = startGit(git, ...args);
  let files = 0;
  let bytes = 0;
  let rest = '';
  for await (const piece of stdout.setEncoding('utf8') as AsyncIterable<string>) {
    const entries = (rest + piece).split('\0');
    rest = entries.pop() ?? '';
    files += entries.length;
    for (const entry of entries) bytes += Number(SIZE.exec(entry)?.[1] ?? 0);
    if (files > MAX_FILES) throw tooMuch(`${MAX_FILES} files`);
    if (bytes > MAX_UNPACKED_BYTES) throw tooMuch(`${MAX_UNPACKED_BYTES} bytes of files`);
  }
  await ended;
};

interface Submodule {
  readonly path: string;
  readonly sha: string;
  readonly url: string;
}

/** The settings of a .gitmodules file by path. */
const readSettings = async (
  { git }: FetchedRepository,
  { folder, sha }: Place,
): Promise<ReadonlyMap<string, string>> => {
  const blob = `${sha}:.gitmodules`;
  const args = ['--git-dir', folder, 'config', '--null', '--blob', blob, '--list'];
  const listed = await runGit(git, ...args);
  const settings = new Map<string, string>();
  for (const entry of listed.toString().split('\0')) {
    const at = entry.indexOf('\n');
    if (at >= 0) settings.set(entry.slice(0, at), entry.slice(at + 1));
  }
  const urls = new Map<string, string>();
  for (const [key, path] of settings) {
    if (!key.startsWith('submodule.') || !key.endsWith('.path')) continue;
    const url = settings.get(key.replace(/\.path$/, '.url'));
    if (url !== undefined) urls.set(path, url);
  }
  return urls;
};

/** "git@host:path", which git knows as another form of an address of SSH. */
const SCP_FORM = /^([\w.-]+@[\w.-]+:)(?!\/\/)(.+)$/;

const isFetched = (url: string, withSsh: boolean): boolean => {
  if (!URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  if (protocol === 'http:' || protocol === 'https:') return username === '' && password === '';
  return withSsh && isSshAddress(url);
};

const resolveRelative = (base: string, url: string): string => {
  const [, host, path] = SCP_FORM.exec(base) ?? [];
  return host === undefined || path === undefined
    ? new URL(url, `${base}/`).href
    : host + posix.join(path, url);
};

/** A submodule's address, which may be relative to that of the repository. */
const resolveUrl = (
  { git }: FetchedRepository,
  base: string,
  { url, path }: Pick<Submodule, 'url' | 'path'>,
): string => {
  const isRelative = url.startsWith('./') || url.startsWith('../');
  const resolved = isRelative ? resolveRelative(base, url) : url;
  const withSsh = git.sshCommand !== undefined;
  const [, host, place] = SCP_FORM.exec(resolved) ?? [];
  if (isFetched(host === undefined ? resolved : `ssh://${host.slice(0, -1)}/${place}`, withSsh))
    return resolved;
  throw new RepositoryFailure(
    `the submodule ${path} is at ${resolved.slice(0, 200)}: submodules are fetched over http and https, with the credentials of the connection for its own server and none for others, and over SSH where the OAuth token has an SSH key`,
    { isFinal: true },
  );
};

const listSubmodules = async (
  repository: FetchedRepository,
  place: Place,
): Promise<readonly Submodule[]> => {
  const { folder, sha, url } = place;
  const args = ['--git-dir', folder, 'ls-tree', '-r', '-z', '--full-tree', sha];
  const listed = await runGit(repository.git, ...args);
  const links = listed
    .toString()
    .split('\0')
    .flatMap((entry) => {
      const [, commit, path] = /^160000 commit ([0-9a-f]+)\t([\s\S]+)$/.exec(entry) ?? [];
      return commit === undefined || path === undefined ? [] : [{ path, sha: commit }];
    });
  if (links.length === 0) return [];
  const urls = await readSettings(repository, place);
  return links.flatMap((link) => {
    const given = urls.get(link.path);
    // Git itself leaves a link alone that .gitmodules does not name.
    if (given === undefined) return [];
    return [{ ...link, url: resolveUrl(repository, url, { url: given, path: link.path }) }];
  });
};

/** Puts the files of submodules into git's index, in place of the links to them. @returns their number */
const addSubmodules = async (
  repository: FetchedRepository,
  place: Place,
  count: number,
): Promise<number> => {
  const { folder } = place;
  // Git asks for a folder of files; it writes none.
  const inIndex = ['--git-dir', folder, '--work-tree', repository.emptyFolder];
  let total = count;
  for (const { path, sha, url } of await listSubmodules(repository, place)) {
    total += 1;
    if (total > MAX_SUBMODULES) throw tooMuch(`${MAX_SUBMODULES} submodules`);
    if (place.depth === MAX_DEPTH) throw tooMuch(`${MAX_DEPTH} levels of submodules`);
    const fetched = await repository.fetch(folder, url, sha).catch((error: unknown) => {
      if (error instanceof RepositoryFailure)
        throw new RepositoryFailure(`the submodule ${path}: ${error.message}`, error);
      throw error;
    });
    // A few trees can stand for any number of files, which an index would list.
    await requireLimits(repository, folder, fetched);
    const at = place.prefix + path;
    await runGit(repository.git, ...inIndex, 'update-index', '--force-remove', '--', at);
    await runGit(repository.git, ...inIndex, 'read-tree', `--prefix=${at}/`, fetched);
    const below = { folder, url, sha: fetched, prefix: `${at}/`, depth: place.depth + 1 };
    total = await addSubmodules(repository, below, total);
  }
  return total;
};

/** A tree with the files of a commit and of its submodules. */
const joinTrees = async (repository: FetchedRepository, place: Place): Promise<string> => {
  const { folder, sha } = place;
  const inIndex = ['--git-dir', folder, '--work-tree', repository.emptyFolder];
  await requireLimits(repository, folder, sha);
  await runGit(repository.git, ...inIndex, 'read-tree', sha);
  const count = await addSubmodules(repository, place, 0);
  if (count === 0) return sha;
  return (await runGit(repository.git, ...inIndex, 'write-tree')).toString().trim();
};

export interface ArchiveOptions {
  readonly withSubmodules: boolean;
  /** Largest archive. */
  readonly limitBytes: number;
}

/** @throws RepositoryFailure from the iteration */
export const archiveCommit = async function* (
  repository: FetchedRepository,
  folder: string,
  sha: string,
  { withSubmodules, limitBytes }: ArchiveOptions,
): AsyncGenerator<Uint8Array, void, void> {
  const place = { folder, url: repository.cloneUrl, sha, prefix: '', depth: 0 };
  const tree = withSubmodules ? await joinTrees(repository, place) : sha;
  await requireLimits(repository, folder, tree);
  // Attributes of the repository must not leave files out, or write the commit into them.
  await mkdir(join(folder, 'info'), { recursive: true });
  await writeFile(join(folder, 'info', 'attributes'), '* -export-ignore -export-subst\n');
  const args = ['--git-dir', folder, 'archive', '--format=tar', tree];
  const { stdout, ended } = startGit(repository.git, ...args);
  const zipped = pipeline(stdout, createGzip(), () => undefined) as AsyncIterable<Buffer>;
  let sizeBytes = 0;
  for await (const piece of zipped) {
    sizeBytes += piece.byteLength;
    if (sizeBytes > limitBytes) {
      throw new RepositoryFailure(`the archive of the commit is larger than ${limitBytes} bytes`, {
        isFinal: true,
      });
    }
    yield piece;
  }
  await ended;
};
