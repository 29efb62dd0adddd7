/** The keys that sign the tokens of runs. */
import { makeSigningKey } from '@keelson/openid/signing-keys';
import type { Reads, Transaction } from '@keelson/storage';
import type { ServiceContext } from '../../base/service-context.ts';
import { isKeyDue, outlivedKeys, signerAmong } from './domain/key-rotation.ts';
import { type WorkloadKey, workloadKeys } from './workload-key-records.ts';

export const WORKLOAD_ALGORITHM = 'RS256';
const NAME = 'runs';

export const loadWorkloadKeys = async (reads: Reads): Promise<readonly WorkloadKey[]> =>
  (await workloadKeys.find(reads, NAME))?.keys ?? [];

const addKey = async (
  tx: Transaction,
  keys: readonly WorkloadKey[],
  nowMs: number,
): Promise<WorkloadKey> => {
  const key = { ...(await makeSigningKey(WORKLOAD_ALGORITHM)), createdAtMs: nowMs };
  workloadKeys.write(tx, [NAME], { keys: [...keys, key] });
  return key;
};

/** The key that signs now. The first one is made when it is needed, unless the upkeep was there before. */
export const requireSigner = async (tx: Transaction, nowMs: number): Promise<WorkloadKey> => {
  const keys = await loadWorkloadKeys(tx);
  return signerAmong(keys, nowMs) ?? addKey(tx, keys, nowMs);
};

/** Adds a key when one is due, and removes those of which no token is left. */
export const rotateWorkloadKeys = (
  { store, clock }: Pick<ServiceContext, 'store' | 'clock'>,
  options: Parameters<ServiceContext['store']['transact']>[1],
): Promise<void> =>
  store.transact(async (tx) => {
    const nowMs = clock.nowMs();
    const keys = await loadWorkloadKeys(tx);
    const outlived = new Set(outlivedKeys(keys, nowMs));
    const kept = keys.filter((key) => !outlived.has(key));
    if (isKeyDue(keys, nowMs)) await addKey(tx, kept, nowMs);
    else if (outlived.size > 0) workloadKeys.write(tx, [NAME], { keys: kept });
  }, options);
