import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ecdsaSignatureToDer } from './ecdsa-signature.ts';

const DATA = Buffer.from('data');

describe('an ECDSA signature of a JWS', () => {
  test.each([
    ['P-256', 32],
    ['P-384', 48],
    ['P-521', 66],
  ])('on %s verifies as DER', (namedCurve, coordinateBytes) => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve });
    // Enough signatures that some numbers begin with a zero octet and others with the top bit set.
    for (let count = 0; count < 100; count += 1) {
      const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const;
      const der = ecdsaSignatureToDer(sign('sha256', DATA, key), coordinateBytes);
      expect(der && verify('sha256', DATA, publicKey, der)).toBe(true);
    }
  });

  test('of numbers that begin with zeros has none of them in DER', () => {
    const signature = new Uint8Array(64);
    signature[31] = 1;
    signature[62] = 0x80;
    const der = Buffer.from(ecdsaSignatureToDer(signature, 32) ?? []);
    expect(der.toString('hex')).toBe('300802010102030080' + '00');
  });

  test('of another length is invalid', () => {
    expect(ecdsaSignatureToDer(new Uint8Array(63), 32)).toBeUndefined();
    expect(ecdsaSignatureToDer(new Uint8Array(65), 32)).toBeUndefined();
    expect(ecdsaSignatureToDer(new Uint8Array(0), 32)).toBeUndefined();
  });
});
