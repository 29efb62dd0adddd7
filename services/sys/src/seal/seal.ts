/**
 * The seal of this process. It holds the root key while unsealed: the services' keys are derived from
 * it, and it opens this service's own barrier. Sealing wipes it.
 */
import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { hasCode, KeelsonError } from '@keelson/errors';
import {
  type Barrier,
  countEncryptions,
  openBarrierFor,
  refreshBarrier,
  type Store,
} from '@keelson/storage';
import { parseShare } from './domain/share-text.ts';
import { joinShares } from './key-shares.ts';
import { deriveServiceKey, KEY_BYTES, unwrapRootKey } from './root-key-wrap.ts';
import {
  CLUSTER_KEY,
  type ClusterIdentity,
  clusterRecords,
  SEAL_KEY,
  type SealRecord,
  sealRecords,
} from './seal-records.ts';

export interface SealStatus {
  readonly initialized: boolean;
  readonly sealed: boolean;
  readonly type: SealRecord['type'];
  readonly threshold: number;
  readonly shares: number;
  /** Shares given since the last attempt to unseal. */
  readonly progress: number;
  readonly nonce: string;
  readonly cluster: ClusterIdentity | undefined;
}

export interface SealOptions {
  readonly store: Store;
  readonly barrier: Barrier;
  /** Reads the key of a static seal; undefined: shares open the seal. */
  readonly loadUnsealKey: ((isInitialized: boolean) => Promise<Uint8Array>) | undefined;
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

export class Seal {
  readonly #store: Store;
  readonly #barrier: Barrier;
  readonly #loadUnsealKey: SealOptions['loadUnsealKey'];
  #rootKey: Uint8Array | undefined;
  #given: Uint8Array[] = [];
  #nonce = '';
  readonly #listeners = new Set<() => void>();

  constructor({ store, barrier, loadUnsealKey }: SealOptions) {
    this.#store = store;
    this.#barrier = barrier;
    this.#loadUnsealKey = loadUnsealKey;
  }

  get isSealed(): boolean {
    return this.#rootKey === undefined;
  }

  /** The type a first start makes. */
  get configuredType(): SealRecord['type'] {
    return this.#loadUnsealKey === undefined ? 'shamir' : 'static';
  }

  /** Key of the file, made when the cluster is not initialized yet; undefined for a seal of shares. */
  async unsealKey(): Promise<Uint8Array | undefined> {
    return this.#loadUnsealKey?.((await this.record()) !== undefined);
  }

  record(): Promise<SealRecord | undefined> {
    return sealRecords.find(this.#store, SEAL_KEY);
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
      cluster: this.isSealed ? undefined : await clusterRecords.find(this.#store, CLUSTER_KEY),
    };
  }

  /** Calls back after every change between sealed and unsealed. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Root key of one service's own barrier; undefined while sealed. */
  serviceKey(service: string): Uint8Array | undefined {
    return this.#rootKey && deriveServiceKey(this.#rootKey, service);
  }

  /** The root key, for wrapping it under another key. @throws KeelsonError `sys.sealed` */
  requireRootKey(): Uint8Array {
    if (this.#rootKey === undefined) throw new KeelsonError('sys.sealed');
    return this.#rootKey;
  }

  /** Opens with the root key itself: at the first start, and by `unseal` below. */
  async open(rootKey: Uint8Array): Promise<void> {
    await openBarrierFor(this.#store, this.#barrier, rootKey);
    this.#forgetShares();
    // Several may open it at once: it changes once.
    if (this.#rootKey !== undefined && timingSafeEqual(this.#rootKey, rootKey)) return;
    this.#rootKey = Uint8Array.from(rootKey);
    this.#announce();
  }

  /**
   * Opens a static seal with its key file. Does nothing before the first start, and for a seal of shares.
   * @throws KeelsonError `sys.wrong_unseal_key`
   */
  async openWithKeyFile(): Promise<void> {
    const record = await this.record();
    if (record?.type !== 'static' || !this.isSealed) return;
    const key = await this.unsealKey();
    const rootKey = key && unwrapRootKey(key, record.wrappedForKeyFile);
    key?.fill(0);
    if (rootKey === undefined) throw new KeelsonError('sys.wrong_unseal_key');
    await this.open(rootKey);
  }

  /**
   * One more share towards unsealing. A static seal that an operator closed asks for its recovery
   * shares like any other: its key file opens it at the start of the process only.
   * @throws KeelsonError `request.invalid` when the share cannot be read, or at the threshold when the
   *   shares do not open the seal; all shares are then forgotten
   */
  async giveShare(text: string): Promise<void> {
    if (text === '') {
      refuse("'key' must be specified in request body as JSON, or 'reset' set to true");
    }
    const record = await this.record();
    if (record === undefined) throw new KeelsonError('sys.not_initialized_request');
    if (!this.isSealed) return;
    const share = parseShare(text);
    if (!this.#given.some((other) => Buffer.compare(other, share) === 0)) this.#given.push(share);
    if (this.#nonce === '') this.#nonce = randomUUID();
    if (this.#given.length < record.threshold) return;
    const given = this.#given;
    this.#forgetShares();
    const key = await joinShares(given, record.threshold);
    const rootKey = key && unwrapRootKey(key, record.wrappedForShares);
    for (const one of given) one.fill(0);
    if (rootKey === undefined) {
      return refuse(
        record.type === 'static'
          ? 'recovery key verification failed'
          : 'Unseal failed, invalid key: failed to decrypt keys from storage',
      );
    }
    await this.open(rootKey);
  }

  /** Another root key in place of ours: that of the primary this cluster follows from now on. */
  replaceRootKey(rootKey: Uint8Array): void {
    this.#rootKey?.fill(0);
    this.#rootKey = Uint8Array.from(rootKey);
    this.#announce();
  }

  /**
   * Follows another replica that made this cluster follow a primary: the keys on disk are then no longer
   * those held here, which are wiped, and a static seal is opened with its key file again. A seal that
   * an operator closed stays closed.
   */
  async followKeys(): Promise<void> {
    if (this.isSealed) return;
    try {
      await refreshBarrier(this.#store, this.#barrier);
    } catch (error) {
      if (!hasCode(error, 'barrier.wrong_root_key')) throw error;
      this.#close();
      await this.openWithKeyFile();
    }
  }

  resetShares(): void {
    this.#forgetShares();
  }

  /** Wipes all keys; nothing behind the barrier can be read until it is unsealed. */
  async seal(): Promise<void> {
    if (!this.isSealed) await countEncryptions(this.#store, this.#barrier);
    this.#close();
  }

  #close(): void {
    this.#rootKey?.fill(0);
    this.#rootKey = undefined;
    this.#barrier.seal();
    this.#announce();
  }

  /** Whether shares authorise a ceremony. @throws KeelsonError `sys.sealed` */
  async acceptsShares(shares: readonly Uint8Array[]): Promise<boolean> {
    const record = await this.record();
    if (record === undefined) return false;
    const key = await joinShares(shares, record.threshold);
    if (key === undefined) return false;
    const rootKey = unwrapRootKey(key, record.wrappedForShares);
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
