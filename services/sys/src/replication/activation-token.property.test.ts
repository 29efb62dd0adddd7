import { hasCode } from '@keelson/errors';
import { generateLinkKeyPair } from '@keelson/replication';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  addressIn,
  decodePublicKey,
  encodePublicKey,
  isSealedBundle,
  openBundle,
  sealBundle,
} from './activation-token.ts';
import type { ActivationBundle } from './domain/activation-bundle.ts';

const bundle = fc.record({
  format: fc.constant(1),
  kind: fc.constantFrom('performance', 'dr'),
  version: fc.string(),
  clusterId: fc.uuid(),
  secondaryId: fc.string(),
  primaryClusterAddress: fc.string(),
  primaryPublicKey: fc.string(),
  seal: fc.record({
    shares: fc.nat(),
    threshold: fc.nat(),
    wrappedForShares: fc.base64String(),
  }),
  expiresAtMs: fc.nat(),
}) as fc.Arbitrary<ActivationBundle>;

const own = generateLinkKeyPair();
const other = generateLinkKeyPair();

test('a sealed bundle opens only for the holder of the key', () => {
  fc.assert(
    fc.property(bundle, (given) => {
      const token = sealBundle(given, decodePublicKey(encodePublicKey(own.publicKey)));
      expect(isSealedBundle(token)).toBe(true);
      expect(openBundle(token, own)).toEqual(given);
      expect(() => openBundle(token, other)).toThrow('was not made for the public key');
    }),
    { numRuns: 20 },
  );
});

test.for([0, 2, 10])('a sealed bundle of format %i is refused by it', (format) => {
  const token = `krs${format}.anything`;
  expect(isSealedBundle(token)).toBe(true);
  expect(() => openBundle(token, own)).toThrow(
    `the secondary activation token has format ${format}, this version of Keelson reads format 1`,
  );
});

test('any text is refused as a token or a key without a crash', () => {
  const refused = (work: () => unknown): boolean => {
    try {
      work();
      return false;
    } catch (error) {
      return hasCode(error, 'request.invalid');
    }
  };
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.base64String(), fc.string({ unit: 'binary' })), (text) => {
      expect(refused(() => openBundle(`krs1.${text}`, own))).toBe(true);
      expect(typeof addressIn(text)).toBe('string');
      const isKey = Buffer.from(text, 'base64').length === 32;
      expect(isKey || refused(() => decodePublicKey(text))).toBe(true);
    }),
  );
});

test('the address in a JWT is read, whatever else it contains', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (claims, address) => {
      const part = (value: unknown): string =>
        Buffer.from(JSON.stringify(value)).toString('base64url');
      expect(typeof addressIn(`h.${part(claims)}.s`)).toBe('string');
      expect(addressIn(`h.${part({ addr: address })}.s`)).toBe(address);
    }),
  );
});
