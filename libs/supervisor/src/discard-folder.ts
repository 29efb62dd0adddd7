/** Folders that strangers have filled are removed, however deep or unreadable they are. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { lstat, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The programs of the system open one folder in another, so that no path is too long. Root needs no permission. */
const REMOVAL =
  '[ "$(id -u)" = 0 ] || chmod -R u+rwX -- "$1" 2>/dev/null; rm -rf -- "$1" 2>/dev/null';

const ASIDE = /\.set-aside-[0-9a-f-]{36}$/;

const exists = (folder: string): Promise<boolean> =>
  lstat(folder).then(
    () => true,
    () => false,
  );

/** @returns whether the folder is gone */
const remove = async (folder: string): Promise<boolean> => {
  try {
    await rm(folder, { recursive: true, force: true });
    return true;
  } catch {
    await run('/bin/sh', ['-c', REMOVAL, 'sh', folder]).catch(() => undefined);
  }
  return !(await exists(folder));
};

/** Removes what was set aside in place of this folder before, as far as it can be removed by now. */
const sweepAside = async (folder: string): Promise<void> => {
  const parent = dirname(folder);
  const prefix = `${basename(folder)}.set-aside-`;
  for (const name of await readdir(parent).catch(() => []))
    if (name.startsWith(prefix)) await remove(join(parent, name));
};

/**
 * Removes a folder if there is one, with those that were set aside in its place before. A folder that cannot be
 * removed is renamed, so that another can take its place.
 * @returns the new name of a folder that could not be removed
 */
export const discardFolder = async (folder: string): Promise<string | undefined> => {
  if (ASIDE.test(folder)) return (await remove(folder)) ? undefined : folder;
  await sweepAside(folder);
  if (await remove(folder)) return undefined;
  const aside = `${folder}.set-aside-${randomUUID()}`;
  await rename(folder, aside);
  return aside;
};

/**
 * Removes the folders of a parent that nobody has changed for so long, as those of processes that were killed.
 * @param prefix of their names
 */
export const sweepFolders = async (
  parent: string,
  prefix: string,
  unchangedMs: number,
): Promise<void> => {
  for (const name of await readdir(parent).catch(() => [])) {
    if (!name.startsWith(prefix)) continue;
    const folder = join(parent, name);
    const found = await lstat(folder).catch(() => undefined);
    const isOwn = found?.isDirectory() === true && found.uid === process.getuid?.();
    if (isOwn && Date.now() - found.mtimeMs > unchangedMs) await remove(folder);
  }
};
