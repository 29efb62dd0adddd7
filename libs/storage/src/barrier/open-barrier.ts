/**
 * A service keeps its wrapped keyring in its own store, at `node/core/keyring`, which is neither encrypted
 * nor replicated. Every change is committed first and adopted afterwards, so all replicas that
 * share the store agree on the keys and none seals a value under a key that is not on disk.
 */
import { hasCode, KeelsonError } from '@keelson/errors';
import type { Store, Transaction, TransactOptions } from '../store.ts';
import { type Barrier, createBarrier } from './barrier.ts';
import { KEYRING_PATH, rewrapKeyring } from './keyring.ts';

const requireKeyring = async (reads: Pick<Transaction, 'read'>): Promise<Uint8Array> => {
  const record = await reads.read(KEYRING_PATH);
  if (record === undefined)
    throw new KeelsonError('storage.corrupt', { reason: `there is no ${KEYRING_PATH}` });
  return record.value;
};

/**
 * Unseals `barrier` with the keyring in `store`, which the first call creates.
 * @param formerRootKeys that `rootKey` has replaced: a keyring that one of them opens is moved to `rootKey`
 * @throws KeelsonError `barrier.wrong_root_key`
 */
export const openBarrierFor = async (
  store: Store,
  barrier: Barrier,
  rootKey: Uint8Array,
  formerRootKeys: readonly Uint8Array[] = [],
): Promise<void> => {
  // Created outside the transaction, whose body may run several times.
  const maker = createBarrier();
  const made = maker.initialize(rootKey);
  maker.seal();
  const wrapped = await store.transact(async (tx) => {
    const existing = await tx.read(KEYRING_PATH);
    const opened =
      existing === undefined ? made : rewrapKeyring(existing.value, rootKey, formerRootKeys);
    if (opened !== existing?.value) tx.write(KEYRING_PATH, opened);
    return opened;
  });
  barrier.unseal(rootKey, wrapped);
};

/**
 * Moves the keyring from the root key of `barrier` to another one, and adds a term. To be used for `unseal` once
 * `tx` is committed.
 * @returns the keyring, and its newest term
 * @throws KeelsonError `barrier.wrong_root_key` if another replica has moved it
 */
export const moveKeyring = async (
  tx: Transaction,
  barrier: Barrier,
  former: Uint8Array,
  rootKey: Uint8Array,
): Promise<{ readonly wrapped: Uint8Array; readonly term: number }> => {
  const kept = await requireKeyring(tx);
  barrier.adopt(kept);
  const term = barrier.term + 1;
  const wrapped = rewrapKeyring(barrier.grown(kept, term), rootKey, [former]);
  tx.write(KEYRING_PATH, wrapped);
  return { wrapped, term };
};

/** The stored keyring, wrapped with the root key. */
export const loadWrappedKeyring = (store: Store): Promise<Uint8Array> => requireKeyring(store);

/**
 * Replaces the keyring with another cluster's and unseals with it. Values encrypted only under the
 * previous keyring become unreadable.
 * @throws KeelsonError `barrier.wrong_root_key`
 */
export const takeOverKeyring = async (
  store: Store,
  barrier: Barrier,
  rootKey: Uint8Array,
  wrappedKeyring: Uint8Array,
): Promise<void> => {
  // Tried first, so that a wrong keyring never replaces the stored one.
  barrier.unseal(rootKey, wrappedKeyring);
  await store.transact((tx) => tx.write(KEYRING_PATH, wrappedKeyring));
};

/**
 * Adopts terms that were added to this keyring elsewhere. A keyring without newer terms is ignored,
 * so it may arrive repeatedly or late.
 * @throws KeelsonError `barrier.wrong_root_key`
 */
export const extendKeyring = async (
  store: Store,
  barrier: Barrier,
  wrappedKeyring: Uint8Array,
  options?: TransactOptions,
): Promise<void> => {
  const newest = await store.transact(async (tx) => {
    const kept = await requireKeyring(tx);
    const newer = barrier.newerOf(kept, wrappedKeyring);
    if (newer !== kept) tx.write(KEYRING_PATH, newer);
    return newer;
  }, options);
  barrier.adopt(newest);
};

/** Adopts changes that another replica made to the keyring. */
export const refreshBarrier = async (store: Store, barrier: Barrier): Promise<void> =>
  barrier.adopt(await requireKeyring(store));

/**
 * Extends the keyring to `toTerm`, under which new values are then encrypted; older values stay
 * readable. Any replica may call it with the same term: one creates the key, the others adopt it.
 */
export const rotateBarrier = async (
  store: Store,
  barrier: Barrier,
  toTerm: number,
): Promise<void> => {
  const wrapped = await store.transact(async (tx) => {
    const kept = await requireKeyring(tx);
    const grown = barrier.grown(kept, toTerm);
    if (grown !== kept) tx.write(KEYRING_PATH, grown);
    return grown;
  });
  barrier.adopt(wrapped);
};

/**
 * Adds this process's encryptions to the count on disk, on which automatic rotation depends. Called
 * every few minutes and before sealing; a crash, or another replica that replaces the root key, loses the count
 * since the last call.
 */
export const countEncryptions = async (store: Store, barrier: Barrier): Promise<void> => {
  const count = barrier.uncounted();
  if (count.size === 0) return;
  try {
    const wrapped = await store.transact(async (tx) => {
      const counted = barrier.counted(await requireKeyring(tx), count);
      tx.write(KEYRING_PATH, counted);
      return counted;
    });
    barrier.adopt(wrapped, count);
  } catch (error) {
    if (!hasCode(error, 'barrier.wrong_root_key')) throw error;
  }
};
