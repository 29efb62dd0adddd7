import { createDecipheriv } from 'node:crypto';
import { ManualClock } from '@keelson/clock';
import { describe, expect, test } from 'vitest';
import { type Barrier, createBarrier } from './barrier.ts';
import { KEYRING_PATH } from './keyring.ts';

const ROOT_KEY = new Uint8Array(32).fill(7);
const VALUE = Buffer.from('a value');

const openBarrier = (): { barrier: Barrier; wrapped: Uint8Array } => {
  const barrier = createBarrier({ clock: new ManualClock(1000) });
  return { wrapped: barrier.initialize(ROOT_KEY), barrier };
};

/** The layout written out a second time, independently of record-cipher.ts. */
const openByHand = (key: Uint8Array, path: string, sealed: Uint8Array): Buffer => {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(5, 17))
    .setAAD(Buffer.from(path))
    .setAuthTag(sealed.subarray(-16));
  return Buffer.concat([decipher.update(sealed.subarray(17, -16)), decipher.final()]);
};

describe('record format', () => {
  test('is term, version 2, nonce, ciphertext and tag, under the key of the wrapped keyring', () => {
    const { barrier, wrapped } = openBarrier();
    const stored = barrier.encrypt('shared/a', VALUE);
    expect(Buffer.from(stored.subarray(0, 5)).toString('hex')).toBe('0000000102');
    expect(stored.length).toBe(VALUE.length + 33);
    const keyring = openByHand(ROOT_KEY, KEYRING_PATH, wrapped);
    expect(openByHand(keyring.subarray(21, 53), 'shared/a', stored)).toEqual(VALUE);
  });

  test('never repeats for equal values', () => {
    const { barrier } = openBarrier();
    expect(barrier.encrypt('shared/a', VALUE)).not.toEqual(barrier.encrypt('shared/a', VALUE));
  });
});

describe('sealed barrier', () => {
  test.for<[string, (barrier: Barrier) => unknown]>([
    ['encrypt', (barrier) => barrier.encrypt('shared/a', VALUE)],
    ['decrypt', (barrier) => barrier.decrypt('shared/a', VALUE)],
    ['term', (barrier) => barrier.term],
    ['keyStatus', (barrier) => barrier.keyStatus()],
    ['adopt', (barrier) => barrier.adopt(VALUE)],
    ['grown', (barrier) => barrier.grown(VALUE, 2)],
    ['uncounted', (barrier) => barrier.uncounted()],
  ])('refuses %s', ([, use]) => {
    const { barrier } = openBarrier();
    barrier.seal();
    expect(() => use(barrier)).toThrow(expect.objectContaining({ code: 'storage.sealed' }));
  });

  test('opens again with the same keyring and root key', () => {
    const { barrier, wrapped } = openBarrier();
    const stored = barrier.encrypt('shared/a', VALUE);
    barrier.seal();
    expect(barrier.isSealed).toBe(true);
    barrier.unseal(ROOT_KEY, wrapped);
    expect(Buffer.from(barrier.decrypt('shared/a', stored))).toEqual(VALUE);
  });

  test('keeps a copy of the root key, so that the caller can wipe its own', () => {
    const { barrier, wrapped } = openBarrier();
    const given = Uint8Array.from(ROOT_KEY);
    barrier.unseal(given, wrapped);
    given.fill(0);
    barrier.adopt(barrier.grown(wrapped, 2));
    expect(barrier.term).toBe(2);
  });

  test.for<[string, (wrapped: Uint8Array) => [Uint8Array, Uint8Array]]>([
    ['another root key', (wrapped) => [new Uint8Array(32), wrapped]],
    ['a root key of the wrong length', (wrapped) => [new Uint8Array(16), wrapped]],
    ['a shortened keyring', (wrapped) => [ROOT_KEY, wrapped.subarray(0, -1)]],
    ['no keyring', () => [ROOT_KEY, new Uint8Array()]],
  ])('refuses %s and stays sealed', ([, wrong]) => {
    const { barrier, wrapped } = openBarrier();
    barrier.seal();
    expect(() => barrier.unseal(...wrong(wrapped))).toThrow(
      expect.objectContaining({ code: 'barrier.wrong_root_key' }),
    );
    expect(barrier.isSealed).toBe(true);
  });
});

describe('rotation', () => {
  test('seals under the new term only after the extended keyring was adopted', () => {
    const { barrier, wrapped } = openBarrier();
    const grown = barrier.grown(wrapped, 2);
    expect(barrier.encrypt('shared/a', VALUE)[3]).toBe(1);
    barrier.adopt(grown);
    expect(barrier.encrypt('shared/a', VALUE)[3]).toBe(2);
  });

  test('leaves the keyring unchanged when the term exists', () => {
    const { barrier, wrapped } = openBarrier();
    expect(barrier.grown(wrapped, 1)).toBe(wrapped);
  });

  test('never goes back to an older keyring', () => {
    const { barrier, wrapped } = openBarrier();
    barrier.adopt(barrier.grown(wrapped, 3));
    barrier.adopt(wrapped);
    expect(barrier.term).toBe(3);
  });

  test('names the term that another replica sealed under', () => {
    const { barrier, wrapped } = openBarrier();
    const replica = createBarrier();
    replica.unseal(ROOT_KEY, wrapped);
    const grown = barrier.grown(wrapped, 2);
    barrier.adopt(grown);
    const stored = barrier.encrypt('shared/a', VALUE);
    expect(() => replica.decrypt('shared/a', stored)).toThrow(
      expect.objectContaining({ code: 'barrier.unknown_term' }),
    );
    replica.adopt(grown);
    expect(Buffer.from(replica.decrypt('shared/a', stored))).toEqual(VALUE);
  });
});

describe('encryption count', () => {
  test('adds the stored count and the encryptions of this process since then', () => {
    const { barrier, wrapped } = openBarrier();
    barrier.encrypt('shared/a', VALUE);
    barrier.encrypt('shared/a', VALUE);
    const count = barrier.uncounted();
    const counted = barrier.counted(wrapped, count);
    barrier.encrypt('shared/a', VALUE);
    barrier.adopt(counted, count);
    expect(barrier.keyStatus()).toEqual({ term: 1, installedAtMs: 1000, encryptions: 3 });
    expect([...barrier.uncounted()]).toEqual([[1, 1]]);
  });

  test('starts at zero for a new term', () => {
    const { barrier, wrapped } = openBarrier();
    barrier.encrypt('shared/a', VALUE);
    barrier.adopt(barrier.grown(wrapped, 2));
    expect(barrier.keyStatus()).toMatchObject({ term: 2, encryptions: 0 });
  });
});
