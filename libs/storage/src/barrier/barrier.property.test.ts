import { propertySettings } from '@keelson/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createBarrier } from './barrier.ts';

const ROOT_KEY = new Uint8Array(32).fill(9);
const value = fc.uint8Array({ maxLength: 4096 });
const path = fc.string({ minLength: 1, unit: 'grapheme' }).map((name) => `shared/${name}`);

const openBarrier = () => {
  const barrier = createBarrier();
  const wrapped = barrier.initialize(ROOT_KEY);
  return { barrier, wrapped };
};

const refusal = (code: string) => expect.objectContaining({ code });

describe('barrier', () => {
  test('opens what was sealed under the same path', () => {
    const { barrier } = openBarrier();
    fc.assert(
      fc.property(path, value, (at, bytes) => {
        expect(Buffer.from(barrier.decrypt(at, barrier.encrypt(at, bytes)))).toEqual(
          Buffer.from(bytes),
        );
      }),
      propertySettings(),
    );
  });

  test('opens no value under another path', () => {
    const { barrier } = openBarrier();
    fc.assert(
      fc.property(path, path, value, (at, other, bytes) => {
        fc.pre(at !== other);
        const stored = barrier.encrypt(at, bytes);
        expect(() => barrier.decrypt(other, stored)).toThrow(refusal('barrier.damaged_value'));
      }),
      propertySettings(),
    );
  });

  test('notices every flipped bit, in the term too', () => {
    const { barrier } = openBarrier();
    fc.assert(
      fc.property(path, value, fc.nat(), (at, bytes, position) => {
        const stored = barrier.encrypt(at, bytes);
        const bit = position % (stored.length * 8);
        stored[bit >> 3] = (stored[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(() => barrier.decrypt(at, stored)).toThrow(
          refusal(bit < 32 ? 'barrier.unknown_term' : 'barrier.damaged_value'),
        );
      }),
      propertySettings(),
    );
  });

  test('refuses any bytes that it did not create', () => {
    const { barrier } = openBarrier();
    fc.assert(
      fc.property(path, fc.uint8Array({ maxLength: 100 }), (at, bytes) => {
        expect(() => barrier.decrypt(at, bytes)).toThrow(
          expect.objectContaining({ name: 'KeelsonError' }),
        );
      }),
      propertySettings(),
    );
  });

  test('reads records of all terms after any rotations and a restart', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(path, value, fc.boolean()), { maxLength: 20 }), (writes) => {
        const { barrier, wrapped: first } = openBarrier();
        let wrapped = first;
        const records = writes.map(([at, bytes, rotates]) => {
          if (rotates) barrier.adopt((wrapped = barrier.grown(wrapped, barrier.term + 1)));
          return { at, bytes, stored: barrier.encrypt(at, bytes) };
        });
        const reopened = createBarrier();
        reopened.unseal(ROOT_KEY, wrapped);
        for (const { at, bytes, stored } of records)
          expect(Buffer.from(reopened.decrypt(at, stored))).toEqual(Buffer.from(bytes));
      }),
      propertySettings({ numRuns: 50 }),
    );
  });
});
