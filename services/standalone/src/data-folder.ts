/**
 * The folder that holds everything a standalone control plane keeps. One process at a time: the lock is
 * an SQLite file held exclusively, which the kernel frees when the process ends in any way.
 */
import { chmodSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export interface DataFolder {
  readonly path: string;
  /** Absolute path of a file in the folder. */
  file(name: string): string;
  /** Gives the folder up. */
  release(): void;
}

/**
 * Creates the folder if it is absent, closes it to others (mode 0700), and takes it.
 * @throws Error naming the folder when another process holds it or it cannot be written
 */
export const openDataFolder = (folder: string): DataFolder => {
  const path = resolve(folder);
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    // Also where it was there before: the files in it are as private as the folder.
    chmodSync(path, 0o700);
  } catch (cause) {
    throw new Error(`KEELSON_DATA_DIR: the data folder ${path} cannot be created`, { cause });
  }
  const lock = takeLock(path);
  return {
    path,
    file: (name) => join(path, name),
    release: () => lock.close(),
  };
};

const takeLock = (path: string): DatabaseSync => {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(join(path, 'lock.sqlite'));
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
    return lock;
  } catch (cause) {
    lock?.close();
    // SQLITE_BUSY: somebody holds it. Anything else: the folder or file cannot be used.
    const busy = (cause as { errcode?: number }).errcode === 5;
    throw new Error(
      busy
        ? `KEELSON_DATA_DIR: the data folder ${path} is in use by another Keelson process`
        : `KEELSON_DATA_DIR: the data folder ${path} cannot be written`,
      { cause },
    );
  }
};
