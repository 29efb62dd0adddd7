import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** Held until it is closed or the process ends, however it ends. */
export interface FileLock {
  close(): void;
}

const BUSY = 5;

/**
 * Locks `file`, which is created if absent (mode 0600) and stays empty. The lock is an exclusive
 * SQLite transaction that is never committed, because Node.js has no file locks.
 * @returns undefined when another process holds the lock
 * @throws Error when the file cannot be opened
 */
export const takeFileLock = (file: string): FileLock | undefined => {
  closeSync(openSync(file, 'a', 0o600));
  const lock = new DatabaseSync(file);
  try {
    // A journal in memory, because a killed process would leave one in a file.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if (Reflect.get(error as object, 'errcode') === BUSY) return undefined;
    throw error;
  }
};
