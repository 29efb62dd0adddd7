import { afterEach, beforeEach, expect, test } from 'vitest';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

const DAY_MS = 86_400_000;

let harness: SysHarness;
beforeEach(async () => {
  harness = await openInitializedSys();
});
afterEach(() => harness.close());

const configure = async (body: object): Promise<void> => {
  // The age of this key is measured by the test's clock.
  await harness.asRoot('POST', 'sys/rotate');
  expect((await harness.asRoot('POST', 'sys/rotate/config', { body })).status).toBe(204);
};
const termAfter = async (days: number): Promise<number> => {
  harness.clock.advance(days * DAY_MS);
  await harness.settle('key-rotation');
  return (await harness.asRoot('GET', 'sys/key-status')).body.data.term;
};

test('an interval replaces the key when it has passed, and not before', async () => {
  await configure({ interval: '48h' });
  expect([await termAfter(1), await termAfter(1.1)]).toEqual([2, 3]);
});

test('rotation that is not enabled leaves the key', async () => {
  await configure({ interval: '48h', enabled: false });
  expect(await termAfter(3)).toBe(2);
});
