/** The root key wrapped with another key: 12-byte nonce ‖ ciphertext ‖ 16-byte tag, AES-256-GCM. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const CONTEXT = Buffer.from('keelson root key');
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
export const KEY_BYTES = 32;

export const wrapRootKey = (wrappingKey: Uint8Array, rootKey: Uint8Array): string => {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', wrappingKey, nonce).setAAD(CONTEXT);
  const sealed = Buffer.concat([
    nonce,
    cipher.update(rootKey),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  return sealed.toString('base64');
};

/** undefined when the key is the wrong one. */
export const unwrapRootKey = (
  wrappingKey: Uint8Array,
  wrappedBase64: string,
): Uint8Array | undefined => {
  if (wrappingKey.length !== KEY_BYTES) return undefined;
  const sealed = Buffer.from(wrappedBase64, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', wrappingKey, sealed.subarray(0, NONCE_BYTES))
    .setAAD(CONTEXT)
    .setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    const opened = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
    decipher.final();
    return Uint8Array.from(opened);
  } catch {
    // Authentication failed, so the key is the wrong one.
    return undefined;
  }
};

/** Root key of a service's own barrier. */
export const deriveServiceKey = (rootKey: Uint8Array, service: string): Uint8Array =>
  new Uint8Array(
    hkdfSync('sha256', rootKey, new Uint8Array(0), Buffer.from(`keelson/${service}`), KEY_BYTES),
  );
