/**
 * The file of an audit device. Keelson writes it as its own user, so a caller who may enable a
 * device must not be able to name Keelson's own files, directly or through links.
 */
import { constants } from 'node:fs';
import { access, type FileHandle, open, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

export interface AuditFileRules {
  /** Folders allowed for audit files; empty means any folder that is not reserved. */
  readonly folders: readonly string[];
  /**
   * Keelson's own folders and files. A folder of `folders` below one of these is allowed
   * nevertheless.
   */
  readonly reserved: readonly string[];
}

const FLAGS =
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  constants.O_NOFOLLOW |
  // Opening a pipe without a reader fails instead of waiting for one.
  constants.O_NONBLOCK;

/** The target of a path after following links; the path itself if nothing exists there. */
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
    throw new Error('file_path is not in a folder of KEELSON_AUDIT_DIRECTORIES');
  const own = reserved.find((one) => isWithin(path, one));
  if (own === undefined) return;
  if (folder === undefined || folder === own || !isWithin(folder, own))
    throw new Error('file_path names a file or a folder of Keelson itself');
};

/**
 * Opens the file for appending, and creates it if it is absent.
 * @param path absolute
 * @throws Error with the reason why it cannot be opened or is not allowed
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
  const found = await handle.stat();
  if (found.isFile() && found.nlink === 1) return handle;
  await handle.close();
  throw new Error(
    found.isFile()
      ? 'file_path is a file with another name (a hard link), which may be one of Keelson itself'
      : 'file_path is not a regular file',
  );
};

/**
 * Tries, without creating it, whether the file can be opened.
 * @throws Error with the reason
 */
export const tryAuditFile = async (path: string): Promise<void> => {
  try {
    await (await open(path, FLAGS & ~constants.O_CREAT)).close();
  } catch (cause) {
    if (!hasCode(cause, 'ENOENT')) throw cause;
    await access(dirname(path), constants.W_OK | constants.X_OK);
  }
};
