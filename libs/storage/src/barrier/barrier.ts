/**
 * The encryption barrier between a store and its disk. While sealed, it has no key and decrypts
 * nothing.
 *
 * The keyring changes only to bytes that are already on disk (`adopt`, `replaceKeyring`): a value must never
 * be encrypted under a key that a crash could lose. `open-barrier.ts` ensures that order.
 */
import { createSecretKey, type KeyObject } from 'node:crypto';
import { type Clock, systemClock } from '@keelson/clock';
import { hasCode, KeelsonError } from '@keelson/errors';
import {
  type Keyring,
  newestOf,
  newKeyring,
  unwrapKeyring,
  wipeKeyring,
  withEncryptions,
  withTermsUpTo,
  wrapKeyring,
} from './keyring.ts';
import { KEY_BYTES, openValue, sealValue, termOf } from './record-cipher.ts';

/** Properties of a key that are not secret. */
export interface KeyStatus {
  readonly term: number;
  readonly installedAtMs: number;
  /** Values sealed under the key: as counted on disk, plus those of this process not yet counted. */
  readonly encryptions: number;
}

/** Values sealed per term. */
type EncryptionCount = ReadonlyMap<number, number>;

/** All methods but `initialize` and `unseal` throw `storage.sealed` while sealed. */
export interface Barrier {
  readonly isSealed: boolean;
  /** Newest term of the keyring. */
  readonly term: number;
  keyStatus(): KeyStatus;

  /** Creates a keyring with one new key, unseals with it, and returns it wrapped for storage. */
  initialize(rootKey: Uint8Array): Uint8Array;
  /** @throws KeelsonError `barrier.wrong_root_key` */
  unseal(rootKey: Uint8Array, wrappedKeyring: Uint8Array): void;
  /** Wipes all keys from memory. Safe to call while sealed. */
  seal(): void;

  encrypt(path: string, value: Uint8Array): Uint8Array;
  /**
   * @throws KeelsonError `barrier.unknown_term` when another replica rotated: call `refreshBarrier` and
   *   try again; `barrier.damaged_value` when path or bytes are not those of `encrypt`
   */
  decrypt(path: string, stored: Uint8Array): Uint8Array;

  /** `wrappedKeyring` with fresh keys for all missing terms up to `toTerm`; not in use before `adopt`. */
  grown(wrappedKeyring: Uint8Array, toTerm: number): Uint8Array;
  /** Returns the keyring with the newer last term; the first one when both end with the same term. */
  newerOf(wrappedKeyring: Uint8Array, other: Uint8Array): Uint8Array;
  /** Values sealed by this process and not yet counted on disk. */
  uncounted(): EncryptionCount;
  /** `wrappedKeyring` with `count` added. */
  counted(wrappedKeyring: Uint8Array, count: EncryptionCount): Uint8Array;
  /**
   * Uses a keyring that is on disk and includes `counted`. A keyring older than the current one is
   * ignored.
   */
  adopt(wrappedKeyring: Uint8Array, counted?: EncryptionCount): void;
  /**
   * Uses the keyring of restored records even if it is older, because no value may be encrypted under a key that
   * is no longer on disk. Seals if the root key does not open it. No effect while sealed.
   */
  replaceKeyring(wrappedKeyring: Uint8Array): void;
}

interface OpenState {
  readonly rootKey: Uint8Array;
  readonly keyring: Keyring;
  /** By term. OpenSSL wipes them when they are released; the bytes in `keyring` are wiped here. */
  readonly keys: ReadonlyMap<number, KeyObject>;
  readonly newest: { readonly term: number; readonly key: KeyObject };
}

const openStateOf = (rootKey: Uint8Array, keyring: Keyring): OpenState => {
  const keys = new Map(keyring.map(({ term, key }) => [term, createSecretKey(key)]));
  const { term, key } = newestOf(keyring);
  return { rootKey, keyring, keys, newest: { term, key: keys.get(term) ?? createSecretKey(key) } };
};

class KeyringBarrier implements Barrier {
  readonly #clock: Clock;
  #open: OpenState | undefined;
  #uncounted = new Map<number, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isSealed(): boolean {
    return this.#open === undefined;
  }

  get term(): number {
    return this.#state().newest.term;
  }

  #state(): OpenState {
    if (this.#open === undefined) throw new KeelsonError('storage.sealed');
    return this.#open;
  }

  keyStatus(): KeyStatus {
    const { term, installedAtMs, encryptions } = newestOf(this.#state().keyring);
    return {
      term,
      installedAtMs,
      encryptions: encryptions + (this.#uncounted.get(term) ?? 0),
    };
  }

  initialize(rootKey: Uint8Array): Uint8Array {
    requireKeyLength(rootKey);
    const keyring = newKeyring(this.#clock.nowMs());
    const wrapped = wrapKeyring(keyring, rootKey);
    wipeKeyring(keyring);
    this.unseal(rootKey, wrapped);
    return wrapped;
  }

  unseal(rootKey: Uint8Array, wrappedKeyring: Uint8Array): void {
    requireKeyLength(rootKey);
    const keyring = unwrapKeyring(wrappedKeyring, rootKey);
    this.seal();
    this.#open = openStateOf(Uint8Array.from(rootKey), keyring);
  }

  seal(): void {
    if (this.#open === undefined) return;
    wipeKeyring(this.#open.keyring);
    this.#open.rootKey.fill(0);
    this.#open = undefined;
    this.#uncounted = new Map();
  }

  encrypt(path: string, value: Uint8Array): Uint8Array {
    const { term, key } = this.#state().newest;
    this.#uncounted.set(term, (this.#uncounted.get(term) ?? 0) + 1);
    return sealValue(key, term, path, value);
  }

  decrypt(path: string, stored: Uint8Array): Uint8Array {
    const { keys } = this.#state();
    const term = termOf(stored);
    if (term === undefined) throw new KeelsonError('barrier.damaged_value', { path });
    const key = keys.get(term);
    if (key === undefined) throw new KeelsonError('barrier.unknown_term', { path, term });
    const value = openValue(key, path, stored);
    if (value === undefined) throw new KeelsonError('barrier.damaged_value', { path });
    return value;
  }

  grown(wrappedKeyring: Uint8Array, toTerm: number): Uint8Array {
    return this.#rewrapped(wrappedKeyring, (keyring) =>
      withTermsUpTo(keyring, toTerm, this.#clock.nowMs()),
    );
  }

  newerOf(wrappedKeyring: Uint8Array, other: Uint8Array): Uint8Array {
    return this.#newestTerm(other) > this.#newestTerm(wrappedKeyring) ? other : wrappedKeyring;
  }

  #newestTerm(wrappedKeyring: Uint8Array): number {
    const keyring = unwrapKeyring(wrappedKeyring, this.#state().rootKey);
    wipeKeyring(keyring);
    return newestOf(keyring).term;
  }

  uncounted(): EncryptionCount {
    this.#state();
    return new Map(this.#uncounted);
  }

  counted(wrappedKeyring: Uint8Array, count: EncryptionCount): Uint8Array {
    return this.#rewrapped(wrappedKeyring, (keyring) => withEncryptions(keyring, count));
  }

  #rewrapped(wrappedKeyring: Uint8Array, change: (keyring: Keyring) => Keyring): Uint8Array {
    const { rootKey } = this.#state();
    const keyring = unwrapKeyring(wrappedKeyring, rootKey);
    const changed = change(keyring);
    const wrapped = changed === keyring ? wrappedKeyring : wrapKeyring(changed, rootKey);
    wipeKeyring(changed);
    return wrapped;
  }

  adopt(wrappedKeyring: Uint8Array, counted: EncryptionCount = new Map()): void {
    const { rootKey, keyring, newest } = this.#state();
    const adopted = unwrapKeyring(wrappedKeyring, rootKey);
    if (newestOf(adopted).term < newest.term) return wipeKeyring(adopted);
    this.#open = openStateOf(rootKey, adopted);
    wipeKeyring(keyring);
    for (const [term, count] of counted) {
      const left = (this.#uncounted.get(term) ?? 0) - count;
      if (left > 0) this.#uncounted.set(term, left);
      else this.#uncounted.delete(term);
    }
  }

  replaceKeyring(wrappedKeyring: Uint8Array): void {
    if (this.#open === undefined) return;
    try {
      this.unseal(Uint8Array.from(this.#open.rootKey), wrappedKeyring);
    } catch (error) {
      if (!hasCode(error, 'barrier.wrong_root_key')) throw error;
      this.seal();
    }
  }
}

const requireKeyLength = (rootKey: Uint8Array): void => {
  if (rootKey.length !== KEY_BYTES) throw new KeelsonError('barrier.wrong_root_key');
};

/** A sealed barrier. */
export const createBarrier = (options: { readonly clock?: Clock } = {}): Barrier =>
  new KeyringBarrier(options.clock ?? systemClock);
