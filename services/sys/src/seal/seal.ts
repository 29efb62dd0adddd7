/**
 * The seal of this process. While unsealed, it holds the root key, from which the keys of the services are
 * derived and which opens this service's own barrier. Sealing wipes the key.
 */
import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { hasCode, KeelsonError } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import {
  type Barrier,
  countEncryptions,
  loadRestoration,
  openBarrierFor,
  type Reads,
  refreshBarrier,
  type Store,
  type Transaction,
} from '@keelson/storage';
import { judgeShare, learnedFingerprints, type ShareSet } from './domain/share-set.ts';
import { parseShare } from './domain/share-text.ts';
import { joinShares } from './key-shares.ts';
import { loadFormerRootKeys, type RootKeyUse, replaceRootKeyIn } from './root-key-replacement.ts';
import { deriveServiceKey, KEY_BYTES, unwrapRootKey, wrapRootKey } from './root-key-wrap.ts';
import {
  type ClusterIdentity,
  clusterRecords,
  type SealRecord,
  sealRecords,
  shareSealOf,
  shareSealRecords,
} from './seal-records.ts';
import { publicKeyIn, unwrapForShares, wrapForShares } from './share-wrap.ts';
import {
  installKey,
  loadNextKey,
  loadUnsealKey,
  makeNextKey,
  nextKeyFile,
} from './unseal-key-file.ts';

export interface SealStatus {
  readonly initialized: boolean;
  readonly sealed: boolean;
  readonly type: SealRecord['type'];
  readonly threshold: number;
  readonly shares: number;
  /** Number of shares given since the last attempt to unseal. */
  readonly progress: number;
  readonly nonce: string;
  readonly cluster: ClusterIdentity | undefined;
}

export interface SealOptions {
  readonly store: Store;
  readonly barrier: Barrier;
  /** File with the key of a static seal; undefined when shares open the seal. */
  readonly keyFile: string | undefined;
  readonly rootKeyUse: RootKeyUse;
  readonly logger: Logger;
}

/** Why a new key file or new shares open a seal whose root key stays. */
export type KeptRootKey = 'shared' | 'older shares';

export interface AdoptedKey {
  /** Whether the key file now contains the key that opens the seal. */
  readonly isInstalled: boolean;
  /** Undefined if the root key was replaced, or there was no next key to adopt. */
  readonly keptRootKey: KeptRootKey | undefined;
}

const NOTHING_TO_ADOPT: AdoptedKey = { isInstalled: true, keptRootKey: undefined };

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const refuseShares = ({ type }: SealRecord): never =>
  refuse(
    type === 'static'
      ? 'recovery key verification failed'
      : 'Unseal failed, invalid key: failed to decrypt keys from storage',
  );

/** The root key, if this is one of the keys that open a static seal. */
export const unwrapAny = (key: Uint8Array, record: SealRecord): Uint8Array | undefined => {
  if (record.type !== 'static') return undefined;
  for (const wrapped of record.wrappedForKeyFiles) {
    const rootKey = unwrapRootKey(key, wrapped);
    if (rootKey !== undefined) return rootKey;
  }
  return undefined;
};

/**
 * The root key, if the key file opens a static seal, or the key that is to replace it: that one is moved to its
 * place after the seal has been changed.
 * @throws KeelsonError `sys.wrong_unseal_key` when a file is missing or holds no key
 */
export const unwrapWithKeyFile = async (
  keyFile: string,
  record: SealRecord,
): Promise<Uint8Array | undefined> => {
  const loadPresent = (): Promise<Uint8Array> => loadUnsealKey(keyFile, true);
  // A replica that has the same file may move the next key between the first two.
  for (const load of [loadPresent, () => loadNextKey(keyFile), loadPresent]) {
    const key = await load();
    const rootKey = key && unwrapAny(key, record);
    key?.fill(0);
    if (rootKey !== undefined) return rootKey;
  }
  return undefined;
};

export class Seal {
  readonly #store: Store;
  readonly #barrier: Barrier;
  readonly #keyFile: string | undefined;
  readonly #rootKeyUse: RootKeyUse;
  readonly #logger: Logger;
  #rootKey: Uint8Array | undefined;
  /** Id of the restored copy from which the records came when the seal was opened; undefined if they came from none. */
  #restorationId: string | undefined;
  #given: Uint8Array[] = [];
  #nonce = '';
  /** The last replacement of the key file; one after the other, so that file and record have the same key. */
  #adopting: Promise<unknown> = Promise.resolve();
  /** Settles when a static seal that follows another replica is open again. */
  #reopening: Promise<unknown> = Promise.resolve();
  readonly #listeners = new Set<() => void>();

  constructor({ store, barrier, keyFile, rootKeyUse, logger }: SealOptions) {
    this.#store = store;
    this.#barrier = barrier;
    this.#keyFile = keyFile;
    this.#rootKeyUse = rootKeyUse;
    this.#logger = logger;
  }

  get isSealed(): boolean {
    return this.#rootKey === undefined;
  }

  /** The type of seal that a first start creates. */
  get configuredType(): SealRecord['type'] {
    return this.#keyFile === undefined ? 'shamir' : 'static';
  }

  /** Key in the key file, created if the cluster is not initialized yet; undefined for a seal of shares. */
  async unsealKey(): Promise<Uint8Array | undefined> {
    if (this.#keyFile === undefined) return undefined;
    const record = await this.record();
    const next = await loadNextKey(this.#keyFile);
    // The next key has replaced the one in the file, from which it could not be moved.
    if (next && record && unwrapAny(next, record)) return next;
    return loadUnsealKey(this.#keyFile, record !== undefined);
  }

  record(): Promise<SealRecord | undefined> {
    return sealRecords.find(this.#store);
  }

  /** The shares that are valid now. */
  async shareSet(reads: Reads = this.#store): Promise<ShareSet> {
    return (await sealRecords.find(reads)) ?? { shares: 0, threshold: 0 };
  }

  /** Records the fingerprints of shares that yielded the key, for a store that does not have them all. */
  async learnShares(tx: Transaction, proven: readonly Uint8Array[]): Promise<void> {
    const record = await sealRecords.find(tx);
    if (record === undefined) return;
    const fingerprints = learnedFingerprints(record, proven);
    if (fingerprints.length === record.fingerprints?.length) return;
    sealRecords.write(tx, { ...record, fingerprints });
  }

  /** The status for clients: a seal that is being opened again with its key file does not count as sealed. */
  async lastingStatus(): Promise<SealStatus> {
    await this.#reopening;
    return this.status();
  }

  async status(): Promise<SealStatus> {
    const record = await this.record();
    return {
      initialized: record !== undefined,
      sealed: this.isSealed,
      type: record?.type ?? this.configuredType,
      threshold: record?.threshold ?? 0,
      shares: record?.shares ?? 0,
      progress: this.#given.length,
      nonce: this.#nonce,
      cluster: this.isSealed ? undefined : await clusterRecords.find(this.#store),
    };
  }

  /** Calls `listener` after every seal and unseal. @returns a function that unsubscribes */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Root key of a service's own barrier; undefined while sealed. */
  serviceKey(service: string): Uint8Array | undefined {
    return this.#rootKey && deriveServiceKey(this.#rootKey, service);
  }

  /** Root keys of a service's own barrier before the present one, the newest last. */
  async formerServiceKeys(service: string): Promise<readonly Uint8Array[]> {
    const former = this.#rootKey && (await loadFormerRootKeys(this.#store, this.#rootKey));
    return (former ?? []).map((rootKey) => deriveServiceKey(rootKey, service));
  }

  /** The root key, to be wrapped with another key. @throws KeelsonError `sys.sealed` */
  requireRootKey(): Uint8Array {
    if (this.#rootKey === undefined) throw new KeelsonError('sys.sealed');
    return this.#rootKey;
  }

  /** Opens the seal with the root key itself: at the first start, and once the shares have yielded it. */
  async open(rootKey: Uint8Array): Promise<void> {
    await openBarrierFor(this.#store, this.#barrier, rootKey);
    this.#restorationId = (await loadRestoration(this.#store))?.id;
    this.#forgetShares();
    // Concurrent calls may open the seal; it changes only once.
    if (this.#rootKey !== undefined && timingSafeEqual(this.#rootKey, rootKey)) return;
    this.#rootKey = Uint8Array.from(rootKey);
    this.#announce();
  }

  /**
   * Opens a static seal with its key file. Does nothing before the first start, or for a seal of shares.
   * @throws KeelsonError `sys.wrong_unseal_key`
   */
  async openWithKeyFile(): Promise<void> {
    const record = await this.record();
    if (record?.type !== 'static' || !this.isSealed) return;
    const rootKey =
      this.#keyFile === undefined ? undefined : await unwrapWithKeyFile(this.#keyFile, record);
    if (rootKey === undefined) throw new KeelsonError('sys.wrong_unseal_key');
    await this.open(rootKey);
  }

  /**
   * Lets the next key alone open the seal, if there is one, with a new root key, and then moves it to the place of
   * the former key. Whenever this is interrupted, one of the two keys opens the seal, and the next start completes it.
   */
  adoptNextKey(): Promise<AdoptedKey> {
    const adopted = this.#adopting.then(() => this.#adoptNextKey());
    this.#adopting = adopted.catch(() => undefined);
    return adopted;
  }

  async #adoptNextKey(): Promise<AdoptedKey> {
    if (this.#keyFile === undefined) return NOTHING_TO_ADOPT;
    const key = await loadNextKey(this.#keyFile);
    if (key === undefined) return NOTHING_TO_ADOPT;
    const keptRootKey = await this.replacingRootKey(async (tx, newRootKey) => {
      const record = await sealRecords.find(tx);
      if (record?.type !== 'static') return undefined;
      const isOnlyOne = record.wrappedForKeyFiles.length === 1;
      if (isOnlyOne && unwrapAny(key, record) !== undefined) return undefined;
      const shareKey = publicKeyIn(record.wrappedForShares);
      const isShared = await this.isRootKeyShared(tx);
      if (isShared || shareKey === undefined) {
        const wrappedForKeyFiles = [wrapRootKey(key, this.requireRootKey())];
        sealRecords.write(tx, { ...record, wrappedForKeyFiles });
        return isShared ? 'shared' : 'older shares';
      }
      const rootKey = await newRootKey();
      const wrappedForShares = wrapForShares(shareKey, rootKey);
      const wrappedForKeyFiles = [wrapRootKey(key, rootKey)];
      shareSealRecords.write(tx, shareSealOf({ ...record, wrappedForShares }));
      sealRecords.write(tx, { ...record, wrappedForShares, wrappedForKeyFiles });
      return undefined;
    });
    const isInstalled = installKey(this.#keyFile, key, this.#logger);
    key.fill(0);
    return { isInstalled, keptRootKey };
  }

  /** Whether other clusters have the root key, too. @throws KeelsonError `sys.sealed` */
  isRootKeyShared(reads: Reads): Promise<boolean> {
    return this.#rootKeyUse.isShared(reads, this.requireRootKey());
  }

  /**
   * Runs a transaction that may replace the root key: with the one that `newRootKey` returns, which is in use once
   * the transaction is committed, and which `work` encrypts for whatever is to open the seal.
   * @throws KeelsonError `sys.sealed`
   */
  async replacingRootKey<T>(
    work: (tx: Transaction, newRootKey: () => Promise<Uint8Array>) => Promise<T>,
  ): Promise<T> {
    const rootKey = newKey();
    let wrappedKeyring: Uint8Array | undefined;
    const result = await this.#store.transact(async (tx) => {
      wrappedKeyring = undefined;
      return work(tx, async () => {
        const keys = { former: this.requireRootKey(), rootKey };
        wrappedKeyring = await replaceRootKeyIn(tx, this.#barrier, this.#rootKeyUse, keys);
        return rootKey;
      });
    });
    if (wrappedKeyring !== undefined) {
      this.#barrier.unseal(rootKey, wrappedKeyring);
      this.replaceRootKey(rootKey);
    }
    rootKey.fill(0);
    return result;
  }

  /**
   * Replaces the key of a static seal. The new one is that in the file for the next key, or made there.
   * The root key is replaced, too, so that the former key opens no later copy with what an earlier one contains.
   * @throws KeelsonError `request.invalid` for a seal of shares, or if no other key can be read or made
   */
  async replaceUnsealKey(): Promise<AdoptedKey> {
    this.requireRootKey();
    if (this.#keyFile === undefined || (await this.record())?.type !== 'static')
      return refuse('no key file opens this seal: replace its key shares with sys/rekey');
    const next = nextKeyFile(this.#keyFile);
    try {
      makeNextKey(this.#keyFile);
    } catch (error) {
      refuse(`${next} cannot be made (${(error as Error).message}): put a new key there`);
    }
    const [former, key] = await Promise.all([
      loadUnsealKey(this.#keyFile, true),
      loadNextKey(this.#keyFile),
    ]);
    if (key && timingSafeEqual(former, key)) refuse(`the key in ${next} is the present one`);
    former.fill(0);
    key?.fill(0);
    return this.adoptNextKey();
  }

  /**
   * Accepts a share for unsealing. A static seal that an operator closed needs its recovery shares in the
   * same way, because its key file opens it only when the process starts.
   * @throws KeelsonError `request.invalid` when the share cannot be parsed or is not one of this cluster, or
   *   at the threshold when the shares do not open the seal; only then all shares are discarded
   */
  async giveShare(text: string): Promise<void> {
    if (text === '') {
      refuse("'key' must be specified in request body as JSON, or 'reset' set to true");
    }
    // A share is not lost while this replica does not know yet that another one has replaced the records.
    await this.followRestoration();
    const record = await this.record();
    if (record === undefined) throw new KeelsonError('sys.not_initialized_request');
    if (!this.isSealed) return;
    const share = parseShare(text);
    if (judgeShare(record, share) === 'foreign') refuseShares(record);
    if (!this.#given.some((other) => Buffer.compare(other, share) === 0)) this.#given.push(share);
    if (this.#nonce === '') this.#nonce = randomUUID();
    if (this.#given.length < record.threshold) return;
    const given = this.#given;
    this.#forgetShares();
    const key = await joinShares(given, record.threshold);
    const rootKey = key && unwrapForShares(key, record.wrappedForShares);
    for (const one of given) one.fill(0);
    if (rootKey === undefined) return refuseShares(record);
    await this.#admitKeyFile(record, rootKey);
    await this.open(rootKey);
  }

  /**
   * After a restoration, the shares let the key file of this installation open the seal as well: that of the
   * cluster that made the snapshot may be lost.
   */
  async #admitKeyFile(record: SealRecord, rootKey: Uint8Array): Promise<void> {
    if ((await loadRestoration(this.#store)) === undefined) return;
    const key = await this.unsealKey();
    if (key === undefined) return;
    const known = record.type === 'static' ? record.wrappedForKeyFiles : [];
    const isKnown = unwrapAny(key, record) !== undefined;
    const wrappedForKeyFiles = [...known, wrapRootKey(key, rootKey)];
    key.fill(0);
    if (isKnown) return;
    await this.#store.transact(async (tx) => {
      // The shares may have been replaced meanwhile.
      const ofShares = shareSealOf((await sealRecords.find(tx)) ?? record);
      sealRecords.write(tx, { type: 'static', ...ofShares, wrappedForKeyFiles });
    });
  }

  /** Uses another root key, with which the barrier has been unsealed. */
  replaceRootKey(rootKey: Uint8Array): void {
    this.#rootKey?.fill(0);
    this.#rootKey = Uint8Array.from(rootKey);
    this.#announce();
  }

  /**
   * Follows another replica that replaced the root key, or made this cluster a secondary. The keys on disk then differ from those held
   * here, which are wiped; a static seal is opened again with its key file. A seal that an operator closed
   * stays closed.
   */
  async followKeys(): Promise<void> {
    if (this.isSealed) return;
    try {
      await refreshBarrier(this.#store, this.#barrier);
    } catch (error) {
      if (!hasCode(error, 'barrier.wrong_root_key')) throw error;
      await this.#reopen();
    }
  }

  resetShares(): void {
    this.#forgetShares();
  }

  /** Wipes all keys; nothing behind the barrier can be read until the cluster is unsealed. */
  async seal(): Promise<void> {
    if (!this.isSealed) await countEncryptions(this.#store, this.#barrier);
    this.#close();
  }

  /**
   * Forgets all keys if this or another replica has replaced the records by those of a copy, which has its own
   * keys. A static seal is opened again if its key file is that of the copy.
   */
  async followRestoration(): Promise<void> {
    await this.#reopening;
    if (this.isSealed || (await loadRestoration(this.#store))?.id === this.#restorationId) return;
    this.#forgetShares();
    try {
      await this.#reopen();
    } catch (error) {
      if (!hasCode(error, 'sys.wrong_unseal_key')) throw error;
    }
  }

  /** Forgets the keys, and opens a static seal with those that its key file opens. */
  #reopen(): Promise<void> {
    this.#close();
    const opened = this.openWithKeyFile();
    this.#reopening = opened.catch(() => undefined);
    return opened;
  }

  #close(): void {
    this.#rootKey?.fill(0);
    this.#rootKey = undefined;
    this.#barrier.seal();
    this.#announce();
  }

  /** Whether the shares authorise a ceremony. @throws KeelsonError `sys.sealed` */
  async acceptsShares(shares: readonly Uint8Array[]): Promise<boolean> {
    const record = await this.record();
    if (record === undefined) return false;
    const key = await joinShares(shares, record.threshold);
    if (key === undefined) return false;
    const rootKey = unwrapForShares(key, record.wrappedForShares);
    const isOurs = rootKey !== undefined && timingSafeEqual(rootKey, this.requireRootKey());
    rootKey?.fill(0);
    return isOurs;
  }

  #forgetShares(): void {
    this.#given = [];
    this.#nonce = '';
  }

  #announce(): void {
    for (const listener of this.#listeners) listener();
  }
}

export const newKey = (): Uint8Array => Uint8Array.from(randomBytes(KEY_BYTES));
