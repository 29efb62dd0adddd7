/** The keys that sign the tokens of runs. */
import { createPublicKey, generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import type { Reads, Transaction } from '@keelson/storage';
import type { ServiceContext } from '../../base/service-context.ts';
import { isKeyDue, outlivedKeys, signerAmong } from './domain/key-rotation.ts';
import { type WorkloadKey, workloadKeys } from './workload-key-records.ts';

export const WORKLOAD_ALGORITHM = 'RS256';
const NAME = 'runs';
const MODULUS_BITS = 2048;

const generate = promisify(generateKeyPair);

/** The public part of a key (RFC 7517), with what it is for. */
export const toPublicKey = ({ privateKey, kid }: WorkloadKey): object => {
  const { kty, n, e } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { kty, n, e, kid, alg: WORKLOAD_ALGORITHM, use: 'sig' };
};

const makeKey = async (nowMs: number): Promise<WorkloadKey> => {
  const { calculateJwkThumbprint } = await import('jose');
  const { publicKey, privateKey } = await generate('rsa', { modulusLength: MODULUS_BITS });
  return {
    kid: await calculateJwkThumbprint(publicKey),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    createdAtMs: nowMs,
  };
};

export const loadWorkloadKeys = async (reads: Reads): Promise<readonly WorkloadKey[]> =>
  (await workloadKeys.find(reads, NAME))?.keys ?? [];

const addKey = async (
  tx: Transaction,
  keys: readonly WorkloadKey[],
  nowMs: number,
): Promise<WorkloadKey> => {
  const key = await makeKey(nowMs);
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
