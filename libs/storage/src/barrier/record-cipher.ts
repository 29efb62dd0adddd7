/**
 * Format of encrypted values: 4-byte big-endian key term ‖ version 0x02 ‖ 12-byte nonce ‖
 * ciphertext ‖ 16-byte tag. AES-256-GCM; the record's path is the associated data, so a value moved
 * to another path cannot be decrypted.
 */
import { type CipherKey, createCipheriv, createDecipheriv, randomFillSync } from 'node:crypto';

export const KEY_BYTES = 32;
const TERM_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NONCE_AT = TERM_BYTES + 1;
const CIPHERTEXT_AT = NONCE_AT + NONCE_BYTES;

/** Length that encryption adds to a value. */
const CIPHER_OVERHEAD_BYTES = CIPHERTEXT_AT + TAG_BYTES;

/** Format version in which the path is associated data. */
const PATH_BOUND_VERSION = 2;

const CIPHER = 'aes-256-gcm';

/** Random bytes are drawn for many nonces at once: a draw costs about the same for 12 bytes as for 3,000. */
const nonces = Buffer.alloc(256 * NONCE_BYTES);
let nextNonceAt = nonces.length;

const writeNonce = (target: Buffer): Buffer => {
  if (nextNonceAt === nonces.length) {
    randomFillSync(nonces);
    nextNonceAt = 0;
  }
  nonces.copy(target, 0, nextNonceAt, (nextNonceAt += NONCE_BYTES));
  return target;
};

/**
 * @param key a KeyObject if one key encrypts many values: creating a cipher from bytes takes three
 * times as long
 */
export const sealValue = (
  key: CipherKey,
  term: number,
  path: string,
  value: Uint8Array,
): Uint8Array<ArrayBuffer> => {
  const sealed = Buffer.allocUnsafeSlow(value.length + CIPHER_OVERHEAD_BYTES);
  sealed.writeUInt32BE(term, 0);
  sealed[TERM_BYTES] = PATH_BOUND_VERSION;
  const nonce = writeNonce(sealed.subarray(NONCE_AT, CIPHERTEXT_AT));
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(path));
  sealed.set(cipher.update(value), CIPHERTEXT_AT);
  cipher.final();
  sealed.set(cipher.getAuthTag(), sealed.length - TAG_BYTES);
  return sealed;
};

/** Term of the key that decrypts `sealed`; undefined for bytes that the barrier did not encrypt. */
export const termOf = (sealed: Uint8Array): number | undefined =>
  sealed.length < CIPHER_OVERHEAD_BYTES || sealed[TERM_BYTES] !== PATH_BOUND_VERSION
    ? undefined
    : new DataView(sealed.buffer, sealed.byteOffset).getUint32(0);

/**
 * The value; undefined if key or path differ from those of the encryption, or the bytes were
 * changed.
 */
export const openValue = (
  key: CipherKey,
  path: string,
  sealed: Uint8Array,
): Uint8Array<ArrayBuffer> | undefined => {
  const tagAt = sealed.length - TAG_BYTES;
  const nonce = sealed.subarray(NONCE_AT, CIPHERTEXT_AT);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(path))
    .setAuthTag(sealed.subarray(tagAt));
  const value = decipher.update(sealed.subarray(CIPHERTEXT_AT, tagAt));
  try {
    decipher.final();
  } catch {
    // node:crypto reports a failed authentication only by throwing.
    value.fill(0);
    return undefined;
  }
  return value;
};
