import { createPrivateKey, createPublicKey, ECDH } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { KeyAlgorithm } from './key-algorithm.ts';
import { createKeyPair, toTraditionalKey } from './key-pair.ts';
import { isSamePublicKey, parsePrivateKey } from './private-key.ts';

const ALGORITHMS: readonly KeyAlgorithm[] = [
  { type: 'rsa', bits: 2048 },
  { type: 'ec', bits: 256 },
  { type: 'ec', bits: 521 },
  { type: 'ed25519' },
];

describe('private keys from outside', () => {
  test.for(ALGORITHMS)('of %o are read in both of their forms', async (algorithm) => {
    const pair = await createKeyPair(algorithm);
    for (const der of [pair.privateKeyDer, toTraditionalKey(pair.privateKeyDer).der]) {
      const read = parsePrivateKey(der);
      expect(read.algorithm).toEqual(algorithm);
      expect(Buffer.from(read.publicKeyDer)).toEqual(Buffer.from(pair.publicKeyDer));
    }
  });

  test('are refused without a word of what they hold', async () => {
    const { privateKeyDer } = await createKeyPair({ type: 'ec', bits: 256 });
    const key = createPrivateKey({ key: Buffer.from(privateKeyDer), format: 'der', type: 'pkcs8' });
    const encrypted = key.export({
      type: 'pkcs8',
      format: 'der',
      cipher: 'aes-256-cbc',
      passphrase: 'secret',
    });
    for (const der of [encrypted, privateKeyDer.subarray(1), new Uint8Array(20_000)])
      expect(() => parsePrivateKey(der)).toThrow(/^the key is not an unencrypted PKCS#8, PKCS#1/);
  });
});

describe('public keys', () => {
  test('of different types are different, in either order', async () => {
    const pairs = await Promise.all(ALGORITHMS.map((algorithm) => createKeyPair(algorithm)));
    for (const one of pairs)
      for (const other of pairs)
        expect(isSamePublicKey(one.publicKeyDer, other.publicKeyDer)).toBe(one === other);
  });

  test('are the same with a compressed point', async () => {
    const { publicKeyDer } = await createKeyPair({ type: 'ec', bits: 256 });
    const point = Buffer.from(publicKeyDer).subarray(-65);
    const compressed = ECDH.convertKey(point, 'prime256v1', undefined, undefined, 'compressed');
    const algorithm = Buffer.from(publicKeyDer).subarray(2, 23);
    const body = Buffer.concat([algorithm, Buffer.from([0x03, 0x22, 0x00]), compressed as Buffer]);
    const der = Buffer.concat([Buffer.from([0x30, body.length]), body]);
    expect(createPublicKey({ key: der, format: 'der', type: 'spki' }).asymmetricKeyType).toBe('ec');
    expect(isSamePublicKey(publicKeyDer, der)).toBe(true);
  });
});
