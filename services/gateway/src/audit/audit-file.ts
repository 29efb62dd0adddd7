/**
 * The file of an audit device. The server's own user writes it, so whoever may enable a device must not
 * reach the files that the server itself lives on, by their names or over symbolic links.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

export interface AuditFileRules {
  /** Folders that audit files may lie in; none: any folder that is not reserved. */
  readonly folders: readonly string[];
  /** Folders and files of Keelson's own. A folder of `folders` below one of these is open all the same. */
  readonly reserved: readonly string[];
}

const FLAGS =
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  constants.O_NOFOLLOW |
  // A pipe without a reader is refused instead of waited for.
  constants.O_NONBLOCK;

/** The target of a path; the path itself while nothing is there. */
const resolveLinks = (path: string): Promise<string> => realpath(path).catch(() => resolve(path));

const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

const requireAllowed = async (path: string, rules: AuditFileRules): Promise<void> => {
  const [folders, reserved] = await Promise.all([
    Promise.all(rules.folders.map(resolveLinks)),
    Promise.all(rules.reserved.map(resolveLinks)),
  ]);
  const folder = folders.find((one) => isWithin(path, one));
  if (folders.length > 0 && folder === undefined)
    throw new Error('file_path does not lie in a folder of KEELSON_AUDIT_DIRECTORIES');
  const own = reserved.find((one) => isWithin(path, one));
  if (own === undefined) return;
  if (folder === undefined || folder === own || !isWithin(folder, own))
    throw new Error('file_path names a file or a folder of Keelson itself');
};

/**
 * Opens the file to add lines to, and makes it if it is absent.
 * @param path absolute
 * @throws Error saying why it cannot be opened or may not be written
 */
export const openAuditFile = async (
  path: string,
  mode: number,
  rules: AuditFileRules,
): Promise<FileHandle> => {
  const folder = await realpath(dirname(path));
  const file = join(folder, basename(path));
  await requireAllowed(file, rules);
  const handle = await open(file, FLAGS, mode).catch((cause: unknown) => {
    if (hasCode(cause, 'ELOOP')) throw new Error('file_path is a symbolic link', { cause });
    throw cause;
  });
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new Error('file_path is not a regular file');
};
