import { propertySettings } from '@keelson/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openIndex, sealIndex } from './log-index.ts';

const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
const index = fc.record({ logId: fc.uuid(), local: fc.nat(), replicated: fc.nat() });

test('an index opens under the key it was sealed with, and under no other', () => {
  fc.assert(
    fc.property(key, key, index, (own, other, given) => {
      const text = sealIndex(own, given);
      expect(openIndex(own, text)).toEqual(given);
      expect(Buffer.from(text, 'base64').toString()).toMatch(/^v1:[\w-]+:\d+:\d+:[0-9a-f]{64}$/);
      expect(openIndex(other, text)).toEqual(Buffer.compare(own, other) === 0 ? given : undefined);
    }),
    propertySettings(),
  );
});

test('no other text is accepted as an index', () => {
  fc.assert(
    fc.property(key, index, fc.string(), fc.nat(), (own, given, text, at) => {
      expect(openIndex(own, text)).toBeUndefined();
      const sealed = Buffer.from(sealIndex(own, given), 'base64');
      sealed[at % sealed.length] = (sealed[at % sealed.length] ?? 0) ^ 1;
      expect(openIndex(own, sealed.toString('base64'))).toBeUndefined();
    }),
    propertySettings(),
  );
});
