import { describe, expect, test } from 'vitest';

test('passes', () => expect(1).toBe(1));
test.skip('is left out', () => undefined);
describe('a group', () => {
  test('fails', () => {
    throw new Error('a reason\nin two lines', { cause: new Error('a cause') });
  });
});
