/**
 * Writes that a performance secondary forwards to its primary and whose log entries arrive too late to be
 * read locally: the response says so, even if it would otherwise have no content.
 */
import type { Bus } from '@keelson/bus';
import { Dialect } from '@keelson/proto/edge/v1/edge';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { advanceClockUntilSettled, ceremonyToken, joinSet } from '../../test/cluster-steps.ts';
import { inProcessTransport } from '../../test/in-process-transport.ts';
import { openSysHarness, type SysHarness } from '../../test/sys-harness.ts';

const POLICY = 'path "a" { capabilities = ["read"] }';
const LATE = 'the write was made on the primary and is not yet visible on this cluster';

let primary: SysHarness;
let secondary: SysHarness;
let token: string;
/** Resolved while the primary's log reaches the secondary. */
let flow: PromiseWithResolvers<void>;

const overSlowLog = (bus: Bus): Bus => ({
  ...bus,
  consume: async function* (stream, sequence, signal) {
    for await (const message of bus.consume(stream, sequence, signal)) {
      await flow.promise;
      yield message;
    }
  },
});

beforeEach(async () => {
  flow = Promise.withResolvers();
  flow.resolve();
  const shared = inProcessTransport();
  primary = await openSysHarness({ transport: shared });
  const { key } = await primary.initialize();
  secondary = await openSysHarness({
    transport: { ...shared, connect: async (to) => overSlowLog(await shared.connect(to)) },
  });
  const { rootToken: root } = await secondary.initialize();
  await joinSet('performance', primary, { cluster: secondary, root });
  token = await ceremonyToken(secondary, 'sys/generate-root', key);
}, 60_000);
afterEach(async () => {
  flow.resolve();
  await advanceClockUntilSettled(secondary, secondary.close());
  await primary.close();
}, 60_000);

const call = (method: string, path: string, body?: object, dialect?: Dialect) =>
  secondary.call(method, path, { token, body, ...(dialect !== undefined && { dialect }) });
/** Advances the clock slowly enough for the primary to answer in time. */
const callWhileLate = async (...request: Parameters<typeof call>) => {
  const asked = call(...request);
  let isThere = false;
  const there = asked.finally(() => {
    isThere = true;
  });
  while (!isThere) {
    secondary.clock.advance(100);
    await Promise.race([there, new Promise((resolve) => setTimeout(resolve, 20))]);
  }
  return asked;
};
const untilStreaming = async (): Promise<void> => {
  while ((await call('POST', 'sys/policies/acl/first', { policy: POLICY })).status !== 204) {
    secondary.clock.advance(1000);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

test('are answered with a warning instead of an empty response', { timeout: 60_000 }, async () => {
  await untilStreaming();
  flow = Promise.withResolvers();
  for (const dialect of [Dialect.SPECIFICATION, Dialect.VENDOR]) {
    const late = await callWhileLate('POST', 'sys/policies/acl/late', { policy: POLICY }, dialect);
    expect([late.status, late.body.warnings, late.body.data]).toEqual([200, [LATE], null]);
  }
  const created = await callWhileLate('POST', 'sys/namespaces/late');
  expect([created.status, created.body.warnings]).toEqual([200, [LATE]]);
  expect(created.body.data.path).toBe('late/');
  const refused = await callWhileLate('POST', 'sys/policies/acl/bad', { policy: 'path {' });
  expect(refused.status).toBe(400);

  flow.resolve();
  await untilStreaming();
  expect((await call('GET', 'sys/policies/acl/late')).status).toBe(200);
});
