/** Keys that sign tokens (RFC 7515), which others verify by a key set (RFC 7517). */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import type { SigningAlgorithm } from './algorithms.ts';

/** A key as it is stored: its id in the key set, and PKCS #8 in PEM. */
export interface SigningKey {
  readonly kid: string;
  readonly privateKey: string;
}

/** The part of a key that verifies: SPKI in PEM. */
export interface VerifyingKey {
  readonly kid: string;
  readonly publicKey: string;
}

const MODULUS_BITS = 2048;
const CURVES = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' } as const;

const generate = promisify(generateKeyPair);

const generatePair = (
  algorithm: SigningAlgorithm,
): Promise<{ readonly publicKey: KeyObject; readonly privateKey: KeyObject }> => {
  switch (algorithm) {
    case 'EdDSA':
      return generate('ed25519', undefined);
    case 'ES256':
    case 'ES384':
    case 'ES512':
      return generate('ec', { namedCurve: CURVES[algorithm] });
    case 'RS256':
    case 'RS384':
    case 'RS512':
      return generate('rsa', { modulusLength: MODULUS_BITS });
  }
};

/** A new key, whose id is its thumbprint (RFC 7638). */
export const makeSigningKey = async (algorithm: SigningAlgorithm): Promise<SigningKey> => {
  const { calculateJwkThumbprint } = await import('jose');
  const { publicKey, privateKey } = await generatePair(algorithm);
  return {
    kid: await calculateJwkThumbprint(publicKey),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
};

export const toVerifyingKey = ({ kid, privateKey }: SigningKey): VerifyingKey => ({
  kid,
  publicKey: createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString(),
});

/** The public part of a key as a member of a key set, with what it is for. */
export const toPublicJwk = (
  key: SigningKey | VerifyingKey,
  algorithm: SigningAlgorithm,
): Readonly<Record<string, unknown>> => {
  const text = 'privateKey' in key ? key.privateKey : key.publicKey;
  // A public key is made first, so that no private member is exported.
  const jwk = createPublicKey(text).export({ format: 'jwk' });
  return { ...jwk, kid: key.kid, alg: algorithm, use: 'sig' };
};

/** A token with these claims, in compact form. */
export const signClaims = async (
  { kid, privateKey }: SigningKey,
  algorithm: SigningAlgorithm,
  claims: Readonly<Record<string, unknown>>,
): Promise<string> => {
  const { SignJWT } = await import('jose');
  return new SignJWT(claims)
    .setProtectedHeader({ typ: 'JWT', alg: algorithm, kid })
    .sign(createPrivateKey(privateKey));
};
