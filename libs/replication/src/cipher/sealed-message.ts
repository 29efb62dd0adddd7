/** Encryption of everything between clusters: 12-byte nonce ‖ AES-256-GCM ciphertext ‖ 16-byte tag. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** @param purpose kind of message; it can be decrypted only for the same purpose */
export const sealMessage = (key: Uint8Array, purpose: string, message: Uint8Array): Buffer => {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(purpose));
  const ciphertext = cipher.update(message);
  return Buffer.concat([nonce, ciphertext, cipher.final(), cipher.getAuthTag()]);
};

/** @throws KeelsonError `replication.undecryptable` */
export const openMessage = (key: Uint8Array, purpose: string, sealed: Uint8Array): Buffer => {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new KeelsonError('replication.undecryptable');
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES))
    .setAAD(Buffer.from(purpose))
    .setAuthTag(sealed.subarray(-TAG_BYTES));
  const message = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
  try {
    decipher.final();
  } catch (error) {
    throw new KeelsonError('replication.undecryptable', {}, { cause: error });
  }
  return message;
};

/** Distinguishes a sealed message from all others. */
export const nonceOf = (sealed: Uint8Array): string =>
  Buffer.from(sealed.subarray(0, NONCE_BYTES)).toString('hex');
