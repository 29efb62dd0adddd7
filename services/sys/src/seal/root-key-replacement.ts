/**
 * Replaces the root key in one transaction of the store of sys: everything in that store follows it at once. The
 * keyring also gets a new term, because whoever had the former root key had the keys of all terms until then. The
 * other services have stores of their own, and follow when they receive the state of the cluster; until then their
 * keyrings open with the former keys, which are kept for them, wrapped with the present root key.
 */
import { type Barrier, moveKeyring, type Reads, type Transaction } from '@keelson/storage';
import { unwrapRootKey, wrapRootKey } from './root-key-wrap.ts';
import { formerRootKeys, keyringTermRecords } from './seal-records.ts';

/** Further uses of the root key, which decide whether it can be replaced. */
export interface RootKeyUse {
  /** Whether other clusters have the root key, too, which therefore stays. */
  isShared(reads: Reads, rootKey: Uint8Array): Promise<boolean>;
  /** Encrypts records of the node under another root key. */
  move(tx: Transaction, former: Uint8Array, rootKey: Uint8Array): Promise<void>;
}

/** Former root keys of this cluster, the newest last. */
export const loadFormerRootKeys = async (
  reads: Reads,
  rootKey: Uint8Array,
): Promise<readonly Uint8Array[]> =>
  ((await formerRootKeys.find(reads))?.wrapped ?? []).flatMap(
    (wrapped) => unwrapRootKey(rootKey, wrapped) ?? [],
  );

/** Keeps `former` and the root keys before it, to be read with `rootKey`. */
export const keepFormerRootKeys = async (
  tx: Transaction,
  former: Uint8Array,
  rootKey: Uint8Array,
): Promise<void> => {
  const kept = [...(await loadFormerRootKeys(tx, former)), former];
  formerRootKeys.write(tx, { wrapped: kept.map((key) => wrapRootKey(rootKey, key)) });
};

/**
 * Replaces `former`, the root key of `barrier`, by `rootKey`, which no other cluster has.
 * @returns the keyring, with which the barrier is unsealed after the commit
 */
export const replaceRootKeyIn = async (
  tx: Transaction,
  barrier: Barrier,
  use: RootKeyUse,
  { former, rootKey }: { readonly former: Uint8Array; readonly rootKey: Uint8Array },
): Promise<Uint8Array> => {
  await use.move(tx, former, rootKey);
  await keepFormerRootKeys(tx, former, rootKey);
  const { wrapped, term } = await moveKeyring(tx, barrier, former, rootKey);
  keyringTermRecords.write(tx, { term });
  return wrapped;
};
