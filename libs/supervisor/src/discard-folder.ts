/** Folders that strangers have filled are removed, however deep or unreadable they are. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { lstat, rename, rm } from 'node:fs/promises';
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

/**
 * Removes a folder if there is one. A folder that cannot be removed is renamed, so that another can take its place.
 * @returns the new name of a folder that could not be removed
 */
export const discardFolder = async (folder: string): Promise<string | undefined> => {
  try {
    await rm(folder, { recursive: true, force: true });
    return undefined;
  } catch {
    await run('/bin/sh', ['-c', REMOVAL, 'sh', folder]).catch(() => undefined);
  }
  if (!(await exists(folder))) return undefined;
  if (ASIDE.test(folder)) return folder;
  const aside = `${folder}.set-aside-${randomUUID()}`;
  await rename(folder, aside);
  return aside;
};
