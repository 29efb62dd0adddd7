/**
 * Encryption to PGP keys, for shares and tokens that only their holder may see. The library is loaded on
 * first use, because it is large and most clusters never need it.
 */
import { KeelsonError } from '@keelson/errors';
import type * as OpenPgp from 'openpgp';

const MAX_KEY_BYTES = 64 * 1024;

let loading: Promise<typeof OpenPgp> | undefined;
const load = (): Promise<typeof OpenPgp> => (loading ??= import('openpgp'));

const readKey = async (keyBase64: string): Promise<OpenPgp.Key> => {
  const { readKey: read } = await load();
  try {
    if (keyBase64.length > MAX_KEY_BYTES * 2) throw new RangeError('key too long');
    return await read({ binaryKey: Uint8Array.from(Buffer.from(keyBase64, 'base64')) });
  } catch (cause) {
    throw new KeelsonError('request.invalid', { text: 'error parsing PGP key' }, { cause });
  }
};

/**
 * Fingerprint in lower-case hex of a key that can encrypt. A key that can only sign, or that has expired,
 * would otherwise be noticed only after the holders have given all their shares.
 * @throws KeelsonError `request.invalid`
 */
export const pgpFingerprint = async (keyBase64: string): Promise<string> => {
  const key = await readKey(keyBase64);
  try {
    await key.getEncryptionKey();
  } catch (cause) {
    throw new KeelsonError('request.invalid', { text: 'error encrypting to PGP key' }, { cause });
  }
  return key.getFingerprint();
};

/** Returns a binary PGP message. @throws KeelsonError `request.invalid` */
export const encryptToPgpKey = async (keyBase64: string, plain: string): Promise<Uint8Array> => {
  const encryptionKeys = await readKey(keyBase64);
  const { createMessage, encrypt } = await load();
  try {
    const message = await createMessage({ text: plain });
    return await encrypt({ message, encryptionKeys, format: 'binary' });
  } catch (cause) {
    throw new KeelsonError('request.invalid', { text: 'error encrypting to PGP key' }, { cause });
  }
};
