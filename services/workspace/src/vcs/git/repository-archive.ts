/**
 * The files of a commit as a tar archive under gzip, with those of its submodules where they are wanted. Git
 * writes them from its objects: nothing of the repository is checked out here.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { pipeline } from 'node:stream';
import { createGzip } from 'node:zlib';
import { extract, type Pack, pack } from 'tar-stream';
import { RepositoryFailure } from '../model/repository-failure.ts';
import type { FetchedRepository } from './fetched-repository.ts';
import { runGit, startGit } from './git-program.ts';

const MAX_UNPACKED_BYTES = 1024 * 1024 * 1024;
const MAX_FILES = 100_000;
const MAX_SUBMODULES = 50;
const MAX_DEPTH = 5;

/** Remainder of the limits shared by a repository and its submodules. */
interface Room {
  bytes: number;
  files: number;
  submodules: number;
}

interface Place {
  /** The repository's folder here. */
  readonly folder: string;
  readonly url: string;
  readonly sha: string;
  /** Where its files are in the archive: "" or "modules/one/". */
  readonly prefix: string;
  readonly depth: number;
}

const tooMuch = (what: string): RepositoryFailure =>
  new RepositoryFailure(`the repository has more than ${what}`, { isFinal: true });

const takeRoom = (room: Room, bytes: number): void => {
  room.files -= 1;
  room.bytes -= bytes;
  if (room.files < 0) throw tooMuch(`${MAX_FILES} files`);
  if (room.bytes < 0) throw tooMuch(`${MAX_UNPACKED_BYTES} bytes of files`);
};

const addFiles = async (
  { git }: FetchedRepository,
  { folder, sha, prefix }: Place,
  room: Room,
  packed: Pack,
): Promise<void> => {
  // Attributes of the repository must not leave files out, or write the commit into them.
  await mkdir(join(folder, 'info'), { recursive: true });
  await writeFile(join(folder, 'info', 'attributes'), '* -export-ignore -export-subst\n');
  const args = ['--git-dir', folder, 'archive', '--format=tar', `--prefix=${prefix}`, sha];
  const { stdout, ended } = startGit(git, ...args);
  const entries = extract();
  const reading = pipeline(stdout, entries, () => undefined);
  try {
    for await (const entry of entries) {
      takeRoom(room, entry.header.size ?? 0);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const written = packed.entry(entry.header, (error) => (error ? reject(error) : resolve()));
      pipeline(entry, written, (error) => {
        if (error) reject(error);
      });
      await promise;
    }
    await ended;
  } finally {
    reading.destroy();
  }
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

/** ssh puts both into the command line of a shell. */
const SSH_NAME = /^\w[\w.-]*$/;

const isFetched = (url: string, withSsh: boolean): boolean => {
  if (!URL.canParse(url)) return false;
  const { protocol, username, password, hostname } = new URL(url);
  if (password !== '') return false;
  if (protocol === 'http:' || protocol === 'https:') return username === '';
  return (
    withSsh && protocol === 'ssh:' && SSH_NAME.test(hostname) && /^(?:\w[\w.-]*)?$/.test(username)
  );
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

const addSubmodules = async (
  repository: FetchedRepository,
  place: Place,
  room: Room,
  packed: Pack,
): Promise<void> => {
  for (const { path, sha, url } of await listSubmodules(repository, place)) {
    room.submodules -= 1;
    if (room.submodules < 0) throw tooMuch(`${MAX_SUBMODULES} submodules`);
    if (place.depth === MAX_DEPTH) throw tooMuch(`${MAX_DEPTH} levels of submodules`);
    const folder = await repository.create();
    const fetched = await repository.fetch(folder, url, sha).catch((error: unknown) => {
      if (error instanceof RepositoryFailure)
        throw new RepositoryFailure(`the submodule ${path}: ${error.message}`, error);
      throw error;
    });
    const prefix = `${place.prefix}${path}/`;
    const below = { folder, url, sha: fetched, prefix, depth: place.depth + 1 };
    await addFiles(repository, below, room, packed);
    await addSubmodules(repository, below, room, packed);
  }
};

/** @throws RepositoryFailure from the iteration */
export const archiveCommit = async function* (
  repository: FetchedRepository,
  folder: string,
  sha: string,
  withSubmodules: boolean,
): AsyncGenerator<Uint8Array, void, void> {
  const packed = pack();
  const zipped = createGzip();
  const place = { folder, url: repository.cloneUrl, sha, prefix: '', depth: 0 };
  const room = { bytes: MAX_UNPACKED_BYTES, files: MAX_FILES, submodules: MAX_SUBMODULES };
  const fill = async (): Promise<void> => {
    try {
      await addFiles(repository, place, room, packed);
      if (withSubmodules) await addSubmodules(repository, place, room, packed);
      packed.finalize();
    } catch (error) {
      // The reader gets the error from here; `packed` ends with its pipeline.
      zipped.destroy(error instanceof Error ? error : new Error('unknown error'));
    }
  };
  // The pipeline ends it with the error of its reader, which is known already.
  packed.on('error', () => undefined);
  pipeline(packed, zipped, () => undefined);
  const filled = fill();
  yield* zipped as AsyncIterable<Buffer>;
  await filled;
};
