/**
 * The keys of a barrier, one per term. Values are sealed with the newest; older ones stay for reading.
 * In bytes: format (1), then per key 4-byte term ‖ 8-byte installed at (epoch ms) ‖ 8-byte encryptions
 * ‖ 32-byte key, terms ascending. Not JSON: strings with key material could not be wiped.
 * Wrapped, it is sealed like a record, under the root key as term 0 and the path `node/core/keyring`.
 */
import { randomFillSync } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import { KEY_BYTES, openValue, sealValue, termOf } from './record-cipher.ts';

export const KEYRING_PATH = 'node/core/keyring';

export interface TermKey {
  readonly term: number;
  readonly installedAtMs: number;
  /** Values sealed under this key, as far as counted (see `countEncryptions`). */
  readonly encryptions: number;
  readonly key: Uint8Array;
}

/** Terms ascending, at least one. */
export type Keyring = readonly TermKey[];

export const KEYRING_FORMAT = 1;
const ENTRY_BYTES = 4 + 8 + 8 + KEY_BYTES;
const ROOT_TERM = 0;

export const newestOf = (keyring: Keyring): TermKey => {
  const newest = keyring.at(-1);
  if (newest === undefined) throw new KeelsonError('storage.corrupt', { reason: 'empty keyring' });
  return newest;
};

const freshKey = (term: number, installedAtMs: number): TermKey => ({
  term,
  installedAtMs,
  encryptions: 0,
  key: randomFillSync(new Uint8Array(KEY_BYTES)),
});

export const newKeyring = (nowMs: number): Keyring => [freshKey(1, nowMs)];

/** `keyring` with a fresh key for every missing term up to `toTerm`. */
export const withTermsUpTo = (keyring: Keyring, toTerm: number, nowMs: number): Keyring => {
  if (newestOf(keyring).term >= toTerm) return keyring;
  const grown = [...keyring];
  for (let term = newestOf(keyring).term + 1; term <= toTerm; term++)
    grown.push(freshKey(term, nowMs));
  return grown;
};

/** `keyring` with `counted` further encryptions per term. */
export const withEncryptions = (keyring: Keyring, counted: ReadonlyMap<number, number>): Keyring =>
  keyring.map((entry) => ({
    ...entry,
    encryptions: entry.encryptions + (counted.get(entry.term) ?? 0),
  }));

export const wipeKeyring = (keyring: Keyring): void => {
  for (const { key } of keyring) key.fill(0);
};

export const wrapKeyring = (keyring: Keyring, rootKey: Uint8Array): Uint8Array => {
  const bytes = Buffer.allocUnsafeSlow(1 + keyring.length * ENTRY_BYTES);
  bytes[0] = KEYRING_FORMAT;
  keyring.forEach(({ term, installedAtMs, encryptions, key }, index) => {
    const at = 1 + index * ENTRY_BYTES;
    bytes.writeUInt32BE(term, at);
    bytes.writeBigUInt64BE(BigInt(installedAtMs), at + 4);
    bytes.writeBigUInt64BE(BigInt(encryptions), at + 12);
    bytes.set(key, at + 20);
  });
  const wrapped = sealValue(rootKey, ROOT_TERM, KEYRING_PATH, bytes);
  bytes.fill(0);
  return wrapped;
};

/**
 * `wrapped`, wrapped with `rootKey`: as it is, or if one of `formerRootKeys` opens it, wrapped again.
 * @throws KeelsonError `barrier.wrong_root_key` if neither does
 */
export const rewrapKeyring = (
  wrapped: Uint8Array,
  rootKey: Uint8Array,
  formerRootKeys: readonly Uint8Array[],
): Uint8Array => {
  for (const key of [rootKey, ...formerRootKeys]) {
    const keyring = openKeyring(wrapped, key);
    if (keyring === undefined) continue;
    const moved = key === rootKey ? wrapped : wrapKeyring(keyring, rootKey);
    wipeKeyring(keyring);
    return moved;
  }
  throw new KeelsonError('barrier.wrong_root_key');
};

/** @throws KeelsonError `barrier.wrong_root_key`, also for a damaged keyring: they look the same */
export const unwrapKeyring = (wrapped: Uint8Array, rootKey: Uint8Array): Keyring => {
  const keyring = openKeyring(wrapped, rootKey);
  if (keyring === undefined) throw new KeelsonError('barrier.wrong_root_key');
  return keyring;
};

/** undefined when the root key does not open it. */
const openKeyring = (wrapped: Uint8Array, rootKey: Uint8Array): Keyring | undefined => {
  const bytes =
    termOf(wrapped) === ROOT_TERM ? openValue(rootKey, KEYRING_PATH, wrapped) : undefined;
  if (bytes === undefined) return undefined;
  const [format] = bytes;
  if (format !== undefined && format !== KEYRING_FORMAT)
    throw new KeelsonError('storage.corrupt', {
      reason: `the keyring has format ${format}, this version of Keelson reads format ${KEYRING_FORMAT}`,
    });
  if (bytes.length <= 1 || (bytes.length - 1) % ENTRY_BYTES !== 0)
    throw new KeelsonError('storage.corrupt', { reason: 'the keyring is incomplete' });
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const keyring: TermKey[] = [];
  for (let at = 1; at < view.length; at += ENTRY_BYTES)
    keyring.push({
      term: view.readUInt32BE(at),
      installedAtMs: Number(view.readBigUInt64BE(at + 4)),
      encryptions: Number(view.readBigUInt64BE(at + 12)),
      key: Uint8Array.prototype.slice.call(view, at + 20, at + ENTRY_BYTES),
    });
  view.fill(0);
  return keyring;
};
