/**
 * Ends a run that fills the disk, which may be that of the control plane, while there is still room for others. A file
 * system with a quota for each run would hold more, and needs an administrator.
 */
import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Short, because a run can write a gigabyte in a second. */
const INTERVAL_MS = 200;
const MOST_RESERVED_BYTES = 1024 ** 3;
const RESERVED_SHARE = 0.1;

interface Room {
  readonly freeBytes: number;
  /** Below this, the run with the largest share is ended; below half of it, every run. */
  readonly reservedBytes: number;
}

const measureRoom = async (folder: string): Promise<Room> => {
  const { bsize, blocks, bavail } = await statfs(folder);
  const reservedBytes = Math.min(MOST_RESERVED_BYTES, blocks * bsize * RESERVED_SHARE);
  return { freeBytes: bavail * bsize, reservedBytes };
};

/** @returns infinity for a folder with parts that cannot be read, because anything may be in them */
const measureFolder = async (folder: string): Promise<number> => {
  try {
    const { stdout } = await run('du', ['-skx', folder]);
    return Number.parseInt(stdout, 10) * 1024;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
};

const hasFilled = async (folder: string): Promise<boolean> => {
  const { freeBytes, reservedBytes } = await measureRoom(folder);
  if (freeBytes >= reservedBytes) return false;
  // A file without a name is in no folder.
  return freeBytes < reservedBytes / 2 || (await measureFolder(folder)) >= freeBytes;
};

/**
 * Watches until it is disposed of.
 * @param folder the one that the run writes to
 * @param end called once, when the disk is nearly full and the run has a large share of it
 */
export const watchDisk = (folder: string, end: () => void): Disposable => {
  const over = new AbortController();
  const watch = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await delay(INTERVAL_MS, undefined, { signal: over.signal }).catch(() => undefined);
      // A folder that cannot be measured has been removed, or is measured the next time.
      const isFull = await hasFilled(folder).catch(() => false);
      if (!isFull || over.signal.aborted) continue;
      over.abort();
      end();
    }
  };
  void watch();
  return { [Symbol.dispose]: () => over.abort() };
};
