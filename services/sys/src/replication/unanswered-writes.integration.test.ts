/** Writes of a performance secondary whose primary does not answer, on a network that drops packets. */
import type { Bus } from '@keelson/bus';
import { pause } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { advanceClockUntilSettled, ceremonyToken, joinSet } from '../../test/cluster-steps.ts';
import { inProcessTransport } from '../../test/in-process-transport.ts';
import { openSysHarness, type SysHarness } from '../../test/sys-harness.ts';

const POLICY = { policy: 'path "a" { capabilities = ["read"] }' };

let primary: SysHarness;
let secondary: SysHarness;
let token: string;
let isCut: boolean;
/** Number of requests that were dropped. */
let swallowed: number;
const NEVER = new AbortController().signal;

const overNetwork = (bus: Bus): Bus => ({
  ...bus,
  request: async (subject, payload, options) => {
    if (!isCut) return bus.request(subject, payload, options);
    swallowed += 1;
    await pause(secondary.clock, options.timeoutMs, NEVER);
    throw new KeelsonError('bus.timeout', { subject, timeoutMs: options.timeoutMs });
  },
});

beforeEach(async () => {
  isCut = false;
  swallowed = 0;
  const shared = inProcessTransport();
  primary = await openSysHarness({ transport: shared });
  const { key } = await primary.initialize();
  secondary = await openSysHarness({
    transport: { ...shared, connect: async (to) => overNetwork(await shared.connect(to)) },
  });
  const { rootToken: root } = await secondary.initialize();
  await joinSet('performance', primary, { cluster: secondary, root });
  token = await ceremonyToken(secondary, 'sys/generate-root', key);
}, 60_000);
afterEach(async () => {
  await advanceClockUntilSettled(secondary, secondary.close());
  await primary.close();
}, 60_000);

const write = (name: string) =>
  secondary.call('POST', `sys/policies/acl/${name}`, { token, body: POLICY });
const untilWritten = async (name: string): Promise<void> => {
  while ((await write(name)).status !== 204) {
    secondary.clock.advance(1000);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

test('are abandoned as soon as heartbeats show that it is gone, and refused from then on', {
  timeout: 60_000,
}, async () => {
  await untilWritten('before');
  isCut = true;
  expect(await advanceClockUntilSettled(secondary, write('during'))).toEqual({
    status: 504,
    body: {
      errors: ['the primary did not answer in time: the request may have been carried out there'],
    },
  });
  // Refused at once: no time passes, and nothing is sent.
  const sent = swallowed;
  expect(await write('after')).toEqual({
    status: 503,
    body: {
      errors: ['the primary cannot be reached, and nothing was written: try again later'],
    },
  });
  expect(swallowed).toBe(sent);
  isCut = false;
  await untilWritten('again');
  const read = await primary.asRoot('GET', 'sys/policies/acl/after');
  expect(read.status).toBe(404);
});
