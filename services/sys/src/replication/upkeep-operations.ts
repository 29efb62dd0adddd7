/** Maintenance of the Merkle trees: recomputing them in the background, checking them, recovering. */

import { KeelsonError } from '@keelson/errors';
import { REPLICATION_KINDS } from '@keelson/replication';
import type { ReindexFlags, ServiceMembers } from './service-members.ts';

export interface ReindexProgress {
  readonly isRunning: boolean;
  /** Services whose trees have been recomputed. */
  readonly done: readonly string[];
}

export interface UpkeepOperations {
  recover(): Promise<void>;
  /** Starts a reindex; `progress` reports its state. @throws KeelsonError `request.invalid` while one runs */
  reindex(flags: ReindexFlags): void;
  progress(): ReindexProgress;
  /** JSON of `MerkleCorruptionReport`, by service. */
  checkMerkle(options?: { readonly treesOnly: boolean }): Promise<ReadonlyMap<string, string>>;
  /** Resolves when no reindex is running. */
  settled(): Promise<void>;
}

export const createUpkeepOperations = (parts: {
  readonly members: ServiceMembers;
  readonly onFailure: (error: unknown) => void;
}): UpkeepOperations => {
  const { members, onFailure } = parts;
  let progress: ReindexProgress = { isRunning: false, done: [] };
  let running: Promise<void> = Promise.resolve();
  const run = async (flags: ReindexFlags): Promise<void> => {
    try {
      await members.reindex(flags, (service) => {
        progress = { isRunning: true, done: [...progress.done, service] };
      });
    } catch (error) {
      onFailure(error);
    } finally {
      progress = { ...progress, isRunning: false };
    }
  };
  return {
    recover: async () => {
      for (const kind of REPLICATION_KINDS) await members.recover(kind);
    },
    reindex: (flags) => {
      if (progress.isRunning)
        throw new KeelsonError('request.invalid', { text: 'a reindex is already in progress' });
      progress = { isRunning: true, done: [] };
      running = run(flags);
    },
    progress: () => progress,
    checkMerkle: (options) => members.checkMerkle(options),
    settled: () => running,
  };
};
