/**
 * Files that survive a power cut. Flushing a file puts its content on disk; that the file is there under
 * its name, or is gone, is on disk only after its folder has been flushed too.
 */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** Readable and writable by the owner alone. */
const PRIVATE = 0o600;

/** Puts on disk which files a folder has. @throws Error of the file system */
export const syncFolder = (folder: string): void => {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
};

/**
 * Writes a file, which replaces one of that name; on disk when it returns. After a crash the file has
 * either its former content or the new one, never a part.
 * @param mode of the file; 0600 if absent
 * @throws Error of the file system
 */
export const writeFileDurably = (file: string, text: string, mode = PRIVATE): void => {
  const unfinished = `${file}.new`;
  writeFileSync(unfinished, text, { mode, flush: true });
  renameSync(unfinished, file);
  syncFolder(dirname(file));
};

/**
 * Makes a file with mode 0600 unless there is one of that name, which then stays: of several processes
 * that do this at once, one succeeds. It is on disk when this returns, and nobody ever sees a part of it.
 * @throws Error of the file system
 */
export const makeFileDurably = (file: string, text: string): void => {
  const unfinished = `${file}.${randomUUID()}`;
  writeFileSync(unfinished, text, { flag: 'wx', mode: PRIVATE, flush: true });
  try {
    linkSync(unfinished, file);
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (!isThere) throw error;
  } finally {
    rmSync(unfinished);
  }
  syncFolder(dirname(file));
};

/** Removes a file that may be absent; the removal is on disk when it returns. */
export const removeFileDurably = (file: string): void => {
  rmSync(file, { force: true });
  syncFolder(dirname(file));
};
