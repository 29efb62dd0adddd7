/**
 * | case                       | outcome                                                       |
 * | -------------------------- | ------------------------------------------------------------- |
 * | a key of each algorithm    | signs a token that verifies with the key set                  |
 * | the key set                | has no private part, whichever part of the key it is made of  |
 * | two keys                   | have different ids                                            |
 */
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { isSigningAlgorithm, SIGNING_ALGORITHMS } from './algorithms.ts';
import { makeSigningKey, signClaims, toPublicJwk, toVerifyingKey } from './signing-keys.ts';

const MEMBERS = {
  RSA: ['alg', 'e', 'kid', 'kty', 'n', 'use'],
  EC: ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'],
  OKP: ['alg', 'crv', 'kid', 'kty', 'use', 'x'],
} as const;

test.for(SIGNING_ALGORITHMS)(
  'a key of %s signs, and its public part verifies',
  async (algorithm) => {
    const key = await makeSigningKey(algorithm);
    const jwk = toPublicJwk(key, algorithm);
    expect(Object.keys(jwk).sort()).toEqual(MEMBERS[jwk['kty'] as keyof typeof MEMBERS]);
    expect(toPublicJwk(toVerifyingKey(key), algorithm)).toEqual(jwk);
    const token = await signClaims(key, algorithm, { sub: 'ada' });
    const keys = createLocalJWKSet({ keys: [jwk] } as unknown as JSONWebKeySet);
    const { payload, protectedHeader } = await jwtVerify(token, keys);
    expect(payload).toEqual({ sub: 'ada' });
    expect(protectedHeader).toEqual({ typ: 'JWT', alg: algorithm, kid: key.kid });
  },
);

test('keys have ids of their own, and other algorithms are none', async () => {
  const [one, other] = await Promise.all([makeSigningKey('ES256'), makeSigningKey('ES256')]);
  expect(one?.kid).not.toBe(other?.kid);
  expect(['HS256', 'none', 'PS256', 'rs256', ''].filter(isSigningAlgorithm)).toEqual([]);
});
