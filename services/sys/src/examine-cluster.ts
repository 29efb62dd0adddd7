/** Facts about a cluster whose stores are not open, from the records of sys. */
import { hasCode } from '@keelson/errors';
import type { ExaminedStore, Reads } from '@keelson/storage';
import { type AuditDevices, loadAuditDevices } from './audit/audit-records.ts';
import { unwrapWithKeyFile } from './seal/seal.ts';
import { type SealRecord, sealRecords } from './seal/seal-records.ts';
import { pendingRestorations } from './snapshots/snapshot-records.ts';

export interface ClusterFacts {
  readonly isInitialized: boolean;
  /** Whether the next start replaces the records by those of a snapshot, which may have another key. */
  readonly isRestorationPending: boolean;
  /** Whether a start with the key file opens the seal. A seal of shares needs no key file. */
  readonly isKeyAccepted: boolean;
}

/** @param keyFile key file of a static seal, which is not created */
export const examineCluster = async (
  reads: Pick<Reads, 'readAs'>,
  keyFile: string,
): Promise<ClusterFacts> => {
  const seal = await sealRecords.find(reads);
  const pending = await pendingRestorations.find(reads);
  return {
    isInitialized: seal !== undefined,
    isRestorationPending: pending !== undefined,
    isKeyAccepted: seal?.type !== 'static' || (await opensWith(keyFile, seal)),
  };
};

/** The root key, if the key file opens the seal. */
const unwrapWith = async (keyFile: string, seal: SealRecord): Promise<Uint8Array | undefined> => {
  try {
    return await unwrapWithKeyFile(keyFile, seal);
  } catch (error) {
    if (!hasCode(error, 'sys.wrong_unseal_key')) throw error;
    return undefined;
  }
};

const opensWith = async (keyFile: string, seal: SealRecord): Promise<boolean> => {
  const rootKey = await unwrapWith(keyFile, seal);
  rootKey?.fill(0);
  return rootKey !== undefined;
};

/**
 * The audit devices of the cluster.
 * @param keyFile key file of a static seal
 * @returns undefined if the key file does not open the seal, as for a seal of shares
 */
export const examineAuditDevices = async (
  store: ExaminedStore,
  keyFile: string,
): Promise<AuditDevices | undefined> => {
  const seal = await sealRecords.find(store);
  const rootKey = seal && (await unwrapWith(keyFile, seal));
  if (rootKey === undefined) return undefined;
  try {
    return await loadAuditDevices(store.unlock(rootKey));
  } finally {
    rootKey.fill(0);
  }
};
