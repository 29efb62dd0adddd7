/** `sys/upgrade` in a cluster in which nothing waits; `services/standalone/test/rolling-upgrade` has two releases. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

let harness: SysHarness;
beforeAll(async () => {
  harness = await openInitializedSys();
});
afterAll(() => harness.close());

test('a new cluster has no records of older versions', async () => {
  const { body } = await harness.asRoot('GET', 'sys/upgrade');
  expect(body.data).toEqual({ pending: { sys: [] } });
});

test('all records are examined, and those after a place', async () => {
  const all = await harness.asRoot('POST', 'sys/upgrade', { body: {} });
  expect(all.body.data).toMatchObject({ after: '', service: 'sys', rewritten: 0 });
  const { examined } = all.body.data;
  expect(examined).toBeGreaterThan(0);
  const rest = await harness.asRoot('POST', 'sys/upgrade', { body: { after: 'sys:shared/core/' } });
  expect(rest.body.data.examined).toBeLessThan(examined);
});

test.each(['none', 'none:', ':', 'SYS:shared/'])(
  'a place that no answer named is refused: %s',
  async (after) => {
    const { status, body } = await harness.asRoot('POST', 'sys/upgrade', { body: { after } });
    expect([status, body.errors]).toEqual([400, [expect.stringContaining('after must be')]]);
  },
);
