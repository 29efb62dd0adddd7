/**
 * Fencing by records: the holder of a lease also takes it over in the store, under a name that was never
 * used before. Every fenced transaction reads that record, so a commit of a holder that was
 * replaced is refused, or conflicts with the takeover. The rule relies neither on clocks nor on counters.
 */
import { randomUUID } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import type { Fence, Store, Transaction } from '../store.ts';

const fencePath = (lease: string): string => `node/fences/${lease}`;

/**
 * Takes a lease over in the store: commits under any fence taken before are refused from now on. Called
 * once by each holder, after it acquired the lease.
 */
export const takeFence = async (store: Pick<Store, 'transact'>, lease: string): Promise<Fence> => {
  const holder = randomUUID();
  await store.transact((tx) => tx.write(fencePath(lease), Buffer.from(holder)));
  return { lease, holder };
};

/** @throws KeelsonError `storage.fenced` when another holder has taken the lease over */
export const holdFence = async (tx: Transaction, { lease, holder }: Fence): Promise<void> => {
  const record = await tx.read(fencePath(lease));
  if (record === undefined || Buffer.from(record.value).toString() !== holder)
    throw new KeelsonError('storage.fenced', { lease });
};
