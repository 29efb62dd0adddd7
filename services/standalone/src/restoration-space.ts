/** Disk space that a restoration needs. */
import { statfs } from 'node:fs/promises';
import { KeelsonError } from '@keelson/errors';
import type { DataPlace } from './data-folder.ts';
import type { Stores } from './stores.ts';

/**
 * Called when the records of the snapshot are staged. Replacing them may write every page of each file to its
 * log once, and all stores must be replaced or none.
 * @throws KeelsonError `sys.snapshot_no_space`
 */
export const requireRestorationSpace = async (stores: Stores, folder: DataPlace): Promise<void> => {
  const sizes = await Promise.all(Object.values(stores).map(({ store }) => store.sizeBytes()));
  const neededBytes = sizes.reduce((sum, bytes) => sum + bytes, 0);
  const { bavail, bsize } = await statfs(folder.path);
  const freeBytes = bavail * bsize;
  if (freeBytes < neededBytes)
    throw new KeelsonError('sys.snapshot_no_space', { neededBytes, freeBytes });
};
