/** Facts about a cluster whose stores are not open, from the unencrypted records of sys. */
import { hasCode } from '@keelson/errors';
import type { Reads } from '@keelson/storage';
import { unwrapAny } from './seal/seal.ts';
import { SEAL_KEY, sealRecords } from './seal/seal-records.ts';
import { loadUnsealKey } from './seal/unseal-key-file.ts';
import { PENDING_KEY, pendingRestorations } from './snapshots/snapshot-records.ts';

export interface ClusterFacts {
  readonly isInitialized: boolean;
  /** Whether the next start replaces the records by those of a snapshot, which may have another key. */
  readonly isRestorationPending: boolean;
  /** Whether a start with the key file opens the seal. A seal of shares needs no key file. */
  readonly isKeyAccepted: boolean;
}

/** @param keyFile key file of a static seal, which is not created */
export const examineCluster = async (
  reads: Pick<Reads, 'read'>,
  keyFile: string,
): Promise<ClusterFacts> => {
  const seal = await sealRecords.find(reads, SEAL_KEY);
  const pending = await pendingRestorations.find(reads, PENDING_KEY);
  return {
    isInitialized: seal !== undefined,
    isRestorationPending: pending !== undefined,
    isKeyAccepted: seal?.type !== 'static' || (await opensWith(keyFile, seal)),
  };
};

const opensWith = async (
  keyFile: string,
  seal: Parameters<typeof unwrapAny>[1],
): Promise<boolean> => {
  try {
    const key = await loadUnsealKey(keyFile, true);
    const rootKey = unwrapAny(key, seal);
    key.fill(0);
    rootKey?.fill(0);
    return rootKey !== undefined;
  } catch (error) {
    if (!hasCode(error, 'sys.wrong_unseal_key')) throw error;
    return false;
  }
};
