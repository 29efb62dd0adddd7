/**
 * Files that survive a power failure. Flushing a file stores its content; its name, or its removal, is stored
 * only after its folder has been flushed too.
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

/** Flushes the entries of a folder to disk. @throws Error of the file system */
export const syncFolder = (folder: string): void => {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
};

/**
 * Writes a file, replacing one with the same name. The file is on disk when this returns. After a crash it
 * has either the former or the new content, never a part.
 * @param mode of the file; 0600 by default
 * @throws Error of the file system
 */
export const writeFileDurably = (file: string, text: string, mode = PRIVATE): void => {
  const unfinished = `${file}.new`;
  writeFileSync(unfinished, text, { mode, flush: true });
  try {
    renameSync(unfinished, file);
  } catch (error) {
    // A file that is mounted cannot be replaced. The copy may be a secret, so it is removed.
    rmSync(unfinished);
    throw error;
  }
  syncFolder(dirname(file));
};

/**
 * Creates a file with mode 0600 unless the name exists; an existing file is kept. If several processes do
 * this at once, one of them succeeds. The file is on disk when this returns, and no process ever sees a part
 * of it.
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
