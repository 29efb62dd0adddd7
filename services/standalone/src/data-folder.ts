/**
 * The folder with all data of a standalone control plane, used by one process at a time.
 */
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { syncFolder } from '@keelson/runtime';
import { type FileLock, takeFileLock } from '@keelson/storage';

export interface DataFolder {
  readonly path: string;
  /** Absolute path of a file in the folder. */
  file(name: string): string;
  /** Releases the folder's lock. */
  release(): void;
}

/** The folder as a thread has it that does not hold the lock. */
export type DataPlace = Omit<DataFolder, 'release'>;

/** @throws Error naming the setting and the folder */
const refuse = (path: string, what: string, cause?: unknown): never => {
  const reason = cause instanceof Error ? ` (${cause.message})` : '';
  throw new Error(`KEELSON_DATA_DIR: the data folder ${path} ${what}${reason}`, { cause });
};

const nearestExisting = (path: string): string =>
  existsSync(path) ? path : nearestExisting(dirname(path));

/**
 * Creates the folder if it is absent, with mode 0700. @returns its absolute path @throws Error
 * naming the folder when it cannot be created or written, or is a file
 */
export const makeDataFolder = (folder: string): string => {
  const path = resolve(folder);
  if (existsSync(path)) {
    if (!statSync(path).isDirectory()) refuse(path, 'is a file');
  } else {
    try {
      // Asked first, because on a read-only file system mkdir reports that a parent is missing.
      accessSync(nearestExisting(path), constants.W_OK);
      mkdirSync(path, { recursive: true, mode: 0o700 });
      syncFolder(dirname(path));
    } catch (cause) {
      refuse(path, 'cannot be made', cause);
    }
  }
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    refuse(path, 'cannot be written', cause);
  }
  return path;
};

/**
 * Creates the folder if it is absent, and locks it for this process.
 * @throws Error naming the folder when another process holds it, or it cannot be used
 */
export const openDataFolder = (folder: string): DataFolder => {
  const path = makeDataFolder(folder);
  const lock = takeLock(path);
  return {
    path,
    file: (name) => join(path, name),
    release: () => lock.close(),
  };
};

const takeLock = (path: string): FileLock => {
  let lock: FileLock | undefined;
  try {
    lock = takeFileLock(join(path, 'lock.sqlite'));
  } catch (cause) {
    return refuse(path, 'cannot be written', cause);
  }
  return lock ?? refuse(path, 'is in use by another Keelson process');
};
