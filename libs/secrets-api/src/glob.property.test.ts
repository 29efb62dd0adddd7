import { propertySettings } from '@keelson/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchesGlob } from './glob.ts';

test('a glob matches the same texts as the equivalent regular expression', () => {
  const piece = fc.stringMatching(/^[ab.*]{0,8}$/);
  fc.assert(
    fc.property(piece, fc.stringMatching(/^[ab.]{0,10}$/), (pattern, text) => {
      const expression = pattern.replaceAll('.', '\\.').replaceAll(/\*+/g, '.*');
      expect(matchesGlob(pattern, text)).toBe(new RegExp(`^${expression}$`).test(text));
    }),
    propertySettings({ numRuns: 5000 }),
  );
});
