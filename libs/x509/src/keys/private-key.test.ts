import {
  createPrivateKey,
  createPublicKey,
  ECDH,
  generateKeyPairSync,
  type JsonWebKey,
} from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import { describe, expect, test } from 'vitest';
import { publicKeyOctets } from '../extensions/key-identifiers.ts';
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
  test.for(ALGORITHMS)('of %o are parsed in both of their forms', async (algorithm) => {
    const pair = await createKeyPair(algorithm);
    for (const der of [pair.privateKeyDer, toTraditionalKey(pair.privateKeyDer).der]) {
      const read = parsePrivateKey(der);
      expect(read.algorithm).toEqual(algorithm);
      expect(Buffer.from(read.publicKeyDer)).toEqual(Buffer.from(pair.publicKeyDer));
    }
  });

  test('are refused without revealing their content', async () => {
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

describe('a private key combined with an unrelated public key', () => {
  const keys = [
    ...ALGORITHMS.filter(({ type }) => type === 'ec'),
    { type: 'ec', bits: 224 },
    { type: 'ec', bits: 384 },
  ] as const;

  test.for(keys)('of %o is refused', async (algorithm) => {
    const [own, other] = [await createKeyPair(algorithm), await createKeyPair(algorithm)];
    const [ownPoint, otherPoint] = [own, other].map((pair) => publicKeyOctets(pair.publicKeyDer));
    for (const der of [own.privateKeyDer, toTraditionalKey(own.privateKeyDer).der]) {
      const forged = Buffer.from(der);
      Buffer.from(otherPoint ?? []).copy(forged, forged.indexOf(Buffer.from(ownPoint ?? [])));
      expect(() => parsePrivateKey(forged)).toThrow('the private and the public part');
    }
  });

  test.for(['d', 'p', 'q', 'dp', 'dq', 'qi'] as const)(
    'of RSA is refused, and so is one whose %s does not match',
    (part) => {
      const [own, other] = [1, 2].map(() =>
        generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
      );
      const toDer = (jwk: JsonWebKey): Buffer =>
        createPrivateKey({ key: jwk, format: 'jwk' }).export({ type: 'pkcs1', format: 'der' });
      for (const forged of [
        { ...own, n: other?.n },
        { ...own, [part]: other?.[part] },
      ])
        expect(() => parsePrivateKey(toDer(forged as JsonWebKey))).toThrow(KeelsonError);
      expect(parsePrivateKey(toDer(own as JsonWebKey)).algorithm).toEqual({
        type: 'rsa',
        bits: 2048,
      });
    },
  );

  test('of a scalar out of range is refused', () => {
    // Found by mutating valid keys: a scalar of 102 octets.
    const der = Buffer.from(
      'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQRmq9mPsWCS3kp7k35/c5KMndIPSmiSjQnEswyawjL+Q4qh' +
        'RANCAASScokSzMEWHbCY7RnGI8niyoNpPk/xh+hocbYZ/UbHIsPoS8/x8cNYgb7wlBY1E5n4pAPqhdgWrbPBtKsnkwgW',
      'base64',
    );
    expect(() => parsePrivateKey(der)).toThrow(KeelsonError);
  });
});

describe('public keys', () => {
  test('of different types are different, in either order', async () => {
    const pairs = await Promise.all(ALGORITHMS.map((algorithm) => createKeyPair(algorithm)));
    for (const one of pairs)
      for (const other of pairs)
        expect(isSamePublicKey(one.publicKeyDer, other.publicKeyDer)).toBe(one === other);
  });

  test('on one curve are different', async () => {
    for (const algorithm of ALGORITHMS.filter(({ type }) => type === 'ec')) {
      const [one, other] = await Promise.all([createKeyPair(algorithm), createKeyPair(algorithm)]);
      expect(isSamePublicKey(one.publicKeyDer, other.publicKeyDer)).toBe(false);
    }
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
    expect(isSamePublicKey(der, publicKeyDer)).toBe(true);
  });
});
