/** The keys that sign the tokens of runs. */
import { KeelsonError } from '@keelson/errors';
import { makeSigningKey } from '@keelson/openid/signing-keys';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction } from '@keelson/storage';
import type { ServiceContext } from '../../base/service-context.ts';
import { requireSiteAdmin } from '../../identity/administration/user-administration-operations.ts';
import {
  isKeyDue,
  keysInUse,
  madeToSignAt,
  olderThan,
  outlivedKeys,
  signerAmong,
} from './domain/key-rotation.ts';
import { type WorkloadKey, workloadKeys } from './workload-key-records.ts';

export const WORKLOAD_ALGORITHM = 'RS256';
const NAME = 'runs';
/** Whoever verifies tokens reads all of them. */
const MOST_KEYS = 10;

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

/**
 * Makes a new key sign from now on, as after a theft of the keys. The former one stays published, so that tokens of runs
 * at work are accepted until it is trimmed or outlived.
 * @throws KeelsonError `workspace.not_found` for everybody but site administrators, `workspace.conflict`
 */
export const replaceWorkloadKey = async (
  { store, clock }: Pick<ServiceContext, 'store' | 'clock'>,
  principal: Principal,
): Promise<void> => {
  await requireSiteAdmin(store, principal);
  const made = await makeSigningKey(WORKLOAD_ALGORITHM);
  await store.transact(async (tx) => {
    await requireSiteAdmin(tx, principal);
    const nowMs = clock.nowMs();
    const kept = keysInUse(await loadWorkloadKeys(tx), nowMs);
    if (kept.length >= MOST_KEYS)
      throw new KeelsonError('workspace.conflict', {
        text: `${MOST_KEYS} keys are published already: remove the former ones with trim-key`,
      });
    const key = { ...made, createdAtMs: madeToSignAt(nowMs) };
    workloadKeys.write(tx, [NAME], { keys: [...kept.map(olderThan(key)), key] });
  });
};

/**
 * Removes the former keys. Tokens that they have signed are refused from then on.
 * @throws KeelsonError `workspace.not_found` for everybody but site administrators
 */
export const trimWorkloadKeys = (
  { store, clock }: Pick<ServiceContext, 'store' | 'clock'>,
  principal: Principal,
): Promise<void> =>
  store.transact(async (tx) => {
    await requireSiteAdmin(tx, principal);
    const keys = await loadWorkloadKeys(tx);
    const signer = signerAmong(keys, clock.nowMs());
    const kept = keys.filter(
      ({ createdAtMs }) => signer === undefined || createdAtMs >= signer.createdAtMs,
    );
    if (kept.length < keys.length) workloadKeys.write(tx, [NAME], { keys: kept });
  });
