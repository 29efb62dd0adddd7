/** Private keys that come from outside, in any of the forms they are kept in. */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import { describeKey } from './key-algorithm.ts';
import type { KeyPair } from './key-pair.ts';
import { parsePublicKey } from './signature-scheme.ts';

/** The forms differ in their first elements, so that at most one of them reads. */
const FORMS = ['pkcs8', 'sec1', 'pkcs1'] as const;
const MAX_KEY_BYTES = 16 * 1024;

const readKey = (der: Uint8Array): KeyObject => {
  if (der.byteLength <= MAX_KEY_BYTES)
    for (const type of FORMS)
      try {
        return createPrivateKey({ key: Buffer.from(der), format: 'der', type });
      } catch {
        // Not this form. The cause is not kept: it could quote the key.
      }
  throw new KeelsonError('pki.malformed', {
    text: 'the key is not an unencrypted PKCS#8, PKCS#1 or SEC 1 private key',
  });
};

/**
 * The pair to a private key in PKCS#8, PKCS#1 or SEC 1 form, DER.
 * @throws KeelsonError `pki.malformed`; `request.invalid` for algorithms that are not served
 */
export const parsePrivateKey = (der: Uint8Array): KeyPair => {
  const key = readKey(der);
  return {
    algorithm: describeKey(key),
    publicKeyDer: createPublicKey(key).export({ type: 'spki', format: 'der' }),
    privateKeyDer: key.export({ type: 'pkcs8', format: 'der' }),
  };
};

/** True when both are the same public key, however its point is written. */
export const isSamePublicKey = (oneDer: Uint8Array, otherDer: Uint8Array): boolean => {
  if (Buffer.from(oneDer).equals(otherDer)) return true;
  const [one, other] = [parsePublicKey(oneDer), parsePublicKey(otherDer)];
  // `equals` throws for keys of different types.
  return one.asymmetricKeyType === other.asymmetricKeyType && one.equals(other);
};
