/** A secondary without its own NATS server could not be followed by any cluster after a promotion. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { advanceClockUntilSettled, joinSet, operationToken } from '../../test/cluster-steps.ts';
import { inProcessTransport } from '../../test/in-process-transport.ts';
import { openSysHarness, type SysHarness } from '../../test/sys-harness.ts';

const PROMOTE = 'sys/replication/dr/secondary/promote';

let primary: SysHarness;
let secondary: SysHarness;
let operation: string;

beforeEach(async () => {
  const transport = inProcessTransport();
  primary = await openSysHarness({ transport });
  const { key } = await primary.initialize();
  secondary = await openSysHarness({
    transport: { ...transport, bus: undefined, clusterAddress: '' },
  });
  const { rootToken: root } = await secondary.initialize();
  await joinSet('dr', primary, { cluster: secondary, root });
  operation = await operationToken(secondary, key);
}, 60_000);
afterEach(async () => {
  await secondary.close();
  await primary.close();
}, 60_000);

test('is refused without force, and causes a warning with it', { timeout: 60_000 }, async () => {
  const promote = (more: object) =>
    secondary.call('POST', PROMOTE, { body: { dr_operation_token: operation, ...more } });
  expect(await promote({})).toMatchObject({
    status: 400,
    body: { errors: ['replication needs a NATS server: KEELSON_NATS_URL is not set'] },
  });
  const warned = expect.arrayContaining([
    expect.stringContaining('KEELSON_NATS_URL is not set: secondaries cannot follow'),
  ]);
  expect((await promote({ dry_run: true })).body.warnings).toEqual(warned);
  const promoted = await advanceClockUntilSettled(secondary, promote({ force: true }));
  expect(promoted).toMatchObject({ status: 200, body: { warnings: warned } });
});
