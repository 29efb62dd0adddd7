/**
 * Fencing as a rule over records: the newest token seen of each lease is a record that every fenced
 * transaction reads, so a commit of a newer holder conflicts with those of an older one.
 */
import { KeelsonError } from '@keelson/errors';
import type { Fence, Transaction } from '../store.ts';

const fencePath = (lease: string): string => `node/fences/${lease}`;

/** @throws KeelsonError `storage.fenced` when a newer holder of the lease has committed */
export const holdFence = async (tx: Transaction, { lease, token }: Fence): Promise<void> => {
  const path = fencePath(lease);
  const record = await tx.read(path);
  const newest = record === undefined ? 0 : Number(Buffer.from(record.value).toString());
  if (token < newest) throw new KeelsonError('storage.fenced', { lease });
  if (token > newest) tx.write(path, Buffer.from(String(token)));
};
