/**
 * The root key encrypted for the key that the shares yield. That key is the private half of an X25519 pair, so that
 * another root key can be encrypted for the same shares without them: X25519 with a pair made for the purpose,
 * HKDF-SHA256, AES-256-GCM. In bytes: public key of the shares (32) ‖ public key made for the purpose (32) ‖ root key
 * wrapped with the derived key (60). Stores made before have the last part alone, wrapped with the key itself.
 */
import {
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';
import { KEY_BYTES, unwrapRootKey, wrapRootKey } from './root-key-wrap.ts';

const OKP = { kty: 'OKP', crv: 'X25519' } as const;
/** An X25519 private key in PKCS #8, up to the key itself. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b656e04220420', 'hex');
const INFORMATION = 'keelson root key for shares';

const toPublic = (key: Uint8Array): KeyObject =>
  createPublicKey({
    key: { ...OKP, x: Buffer.from(key).toString('base64url') },
    format: 'jwk',
  });

const bytesOf = (key: KeyObject): Buffer =>
  Buffer.from(String(createPublicKey(key).export({ format: 'jwk' }).x), 'base64url');

const toPrivate = (key: Uint8Array): KeyObject => {
  const der = Buffer.concat([PKCS8_PREFIX, key]);
  const made = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  der.fill(0);
  return made;
};

const deriveKey = (
  privateKey: KeyObject,
  publicKey: Uint8Array,
  salt: readonly Uint8Array[],
): Uint8Array => {
  const shared = diffieHellman({ privateKey, publicKey: toPublic(publicKey) });
  const key = hkdfSync('sha256', shared, Buffer.concat(salt), INFORMATION, KEY_BYTES);
  shared.fill(0);
  return new Uint8Array(key);
};

/** The public half of the key that the shares yield: 32 bytes. */
export const publicShareKey = (shareKey: Uint8Array): Uint8Array =>
  Uint8Array.from(bytesOf(toPrivate(shareKey)));

/** The root key encrypted for the shares with this public key; base64. */
export const wrapForShares = (publicKey: Uint8Array, rootKey: Uint8Array): string => {
  const { privateKey } = generateKeyPairSync('x25519');
  const made = bytesOf(privateKey);
  const key = deriveKey(privateKey, publicKey, [publicKey, made]);
  const wrapped = Buffer.from(wrapRootKey(key, rootKey), 'base64');
  key.fill(0);
  return Buffer.concat([publicKey, made, wrapped]).toString('base64');
};

/** The public key of the shares for which a root key was encrypted; undefined if the store was made before there was one. */
export const publicKeyIn = (wrappedForShares: string): Uint8Array | undefined => {
  const bytes = Buffer.from(wrappedForShares, 'base64');
  return bytes.length > 2 * KEY_BYTES ? Uint8Array.from(bytes.subarray(0, KEY_BYTES)) : undefined;
};

/** The root key; undefined when the key that the shares yielded is the wrong one. */
export const unwrapForShares = (
  shareKey: Uint8Array,
  wrappedForShares: string,
): Uint8Array | undefined => {
  if (shareKey.length !== KEY_BYTES) return undefined;
  const publicKey = publicKeyIn(wrappedForShares);
  if (publicKey === undefined) return unwrapRootKey(shareKey, wrappedForShares);
  const bytes = Buffer.from(wrappedForShares, 'base64');
  const made = bytes.subarray(KEY_BYTES, 2 * KEY_BYTES);
  const key = deriveKey(toPrivate(shareKey), made, [publicKey, made]);
  const rootKey = unwrapRootKey(key, bytes.subarray(2 * KEY_BYTES).toString('base64'));
  key.fill(0);
  return rootKey;
};
