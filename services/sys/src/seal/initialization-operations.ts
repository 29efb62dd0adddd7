/**
 * The first start of a cluster: root key, seal, barrier, first token. The seal and everything behind the
 * barrier are written in one transaction, so a crash before it leaves a cluster that can be initialized
 * again, and a crash after it leaves a complete one.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import { type Barrier, openBarrierFor, type Reads, type Store } from '@keelson/storage';
import { issueServiceToken, rootTokenPlan } from '../tokens/token-operations.ts';
import { removeToken, tokens, writeTokenSalt } from '../tokens/token-records.ts';
import { requireShareCounts, type ShareCounts } from './domain/share-counts.ts';
import { fingerprintsOf } from './domain/share-set.ts';
import { splitKey } from './key-shares.ts';
import { encryptToPgpKey, pgpFingerprint } from './pgp.ts';
import { wrapRootKey } from './root-key-wrap.ts';
import { newKey, type Seal } from './seal.ts';
import {
  clusterRecords,
  initializationClaims,
  sealRecords,
  shareSealRecords,
} from './seal-records.ts';
import { checkPgpKeys, type HandedShares, handOut } from './sealed-shares.ts';
import { publicShareKey, wrapForShares } from './share-wrap.ts';

export interface InitializationRequest extends ShareCounts {
  readonly pgpKeys: readonly string[];
  readonly rootTokenPgpKey: string;
}

export interface Initialized extends HandedShares {
  readonly rootToken: string;
  /** `static`: a key file opens the seal at each start; shares are needed only after `sys/seal`. */
  readonly type: 'shamir' | 'static';
}

const KEYRING_PATH = 'node/core/keyring';
const TOKEN_SALT_BYTES = 32;

export interface InitializationParts {
  readonly seal: Seal;
  readonly store: Store;
  readonly barrier: Barrier;
  readonly clock: Clock;
  readonly clusterName: string;
}

/** @throws KeelsonError `request.invalid` when the cluster is initialized, or another process claimed it */
export const initializeCluster = async (
  { seal, store, barrier, clock, clusterName }: InitializationParts,
  request: InitializationRequest,
): Promise<Initialized> => {
  const refuseInitialized = (): never => {
    throw new KeelsonError('request.invalid', { text: 'Keelson is already initialized' });
  };
  const requireUninitialized = async (reads: Reads): Promise<void> => {
    if ((await sealRecords.find(reads)) !== undefined) refuseInitialized();
  };
  await requireUninitialized(store);
  const counts = requireShareCounts(request);
  await checkPgpKeys(request.pgpKeys, counts.shares, 'secret shares');
  if (request.rootTokenPgpKey !== '') await pgpFingerprint(request.rootTokenPgpKey);

  const claim = randomUUID();
  await store.transact(async (tx) => {
    await requireUninitialized(tx);
    initializationClaims.write(tx, { nonce: claim });
    // The keyring of an unfinished start is useless, because its root key is lost.
    tx.delete(KEYRING_PATH);
  });

  const rootKey = newKey();
  const shareKey = newKey();
  const unsealKey = await seal.unsealKey();
  // The seal remains closed to everyone else until the cluster is complete.
  await openBarrierFor(store, barrier, rootKey);
  try {
    const shares = await splitKey(shareKey, counts);
    const handed = await handOut(shares, request.pgpKeys);
    const rootToken = await store.transact(async (tx) => {
      await requireUninitialized(tx);
      if ((await initializationClaims.find(tx))?.nonce !== claim) refuseInitialized();
      initializationClaims.delete(tx);
      const ofShares = {
        ...counts,
        wrappedForShares: wrapForShares(publicShareKey(shareKey), rootKey),
        fingerprints: fingerprintsOf(shares),
      };
      shareSealRecords.write(tx, ofShares);
      sealRecords.write(tx, {
        ...(unsealKey === undefined
          ? { type: 'shamir' }
          : { type: 'static', wrappedForKeyFiles: [wrapRootKey(unsealKey, rootKey)] }),
        ...ofShares,
      });
      clusterRecords.write(tx, { id: randomUUID(), name: clusterName });
      writeTokenSalt(tx, randomBytes(TOKEN_SALT_BYTES));
      return issueServiceToken(tx, rootTokenPlan(clock.nowMs()));
    });
    await seal.open(rootKey);
    return {
      ...handed,
      type: seal.configuredType,
      rootToken:
        request.rootTokenPgpKey === ''
          ? rootToken.token
          : Buffer.from(await encryptToPgpKey(request.rootTokenPgpKey, rootToken.token)).toString(
              'base64',
            ),
    };
  } catch (error) {
    barrier.seal();
    throw error;
  } finally {
    rootKey.fill(0);
    shareKey.fill(0);
    unsealKey?.fill(0);
  }
};

/**
 * Creates new recovery shares and a new root token for a cluster with an open static seal whose
 * first ones were never delivered, because the process that initialized it ended too early. The
 * lost root token is revoked.
 */
export const replaceFirstKeys = async (
  { seal, store, clock }: InitializationParts,
  request: ShareCounts,
): Promise<Initialized> => {
  const counts = requireShareCounts(request);
  const rootKey = seal.requireRootKey();
  const shareKey = newKey();
  const shares = await splitKey(shareKey, counts);
  const handed = await handOut(shares, []);
  const plan = rootTokenPlan(clock.nowMs());
  const rootToken = await store.transact(async (tx) => {
    const record = await sealRecords.find(tx);
    if (record === undefined) throw new KeelsonError('sys.not_initialized');
    const ofShares = {
      ...counts,
      wrappedForShares: wrapForShares(publicShareKey(shareKey), rootKey),
      fingerprints: fingerprintsOf(shares),
    };
    shareSealRecords.write(tx, ofShares);
    sealRecords.write(tx, { ...record, ...ofShares });
    for (const [, token] of await tokens.entries(tx))
      if (token.path === plan.path) await removeToken(tx, token);
    return issueServiceToken(tx, plan);
  });
  shareKey.fill(0);
  return { ...handed, type: 'static', rootToken: rootToken.token };
};
