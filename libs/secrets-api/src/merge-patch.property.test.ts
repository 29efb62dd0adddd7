import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergePatch, mergePatchObject } from './merge-patch.ts';

const json = fc.jsonValue();
const object = fc.dictionary(fc.string(), json, { noNullPrototype: true });

test('patching twice with the same document changes nothing more', () => {
  fc.assert(
    fc.property(json, json, (target, patch) => {
      const once = mergePatch(target, patch);
      expect(mergePatch(once, patch)).toEqual(once);
    }),
  );
});

test('an empty patch keeps an object, and the arguments are never changed', () => {
  fc.assert(
    fc.property(object, object, (target, patch) => {
      const before = JSON.stringify([target, patch]);
      expect(mergePatchObject(target, {})).toEqual(target);
      mergePatchObject(target, patch);
      expect(JSON.stringify([target, patch])).toBe(before);
    }),
  );
});

test('no patched object holds a member that its patch set to null', () => {
  fc.assert(
    fc.property(object, object, (target, patch) => {
      const merged = mergePatchObject(target, patch);
      for (const [key, value] of Object.entries(patch))
        expect(Object.hasOwn(merged, key)).toBe(value !== null);
    }),
  );
});

test('a member named __proto__ is data and reaches no prototype', () => {
  const patch = JSON.parse('{"__proto__":{"polluted":true}}') as Record<string, unknown>;
  const merged = mergePatchObject({}, patch);
  expect(Object.hasOwn(merged, '__proto__')).toBe(true);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});
