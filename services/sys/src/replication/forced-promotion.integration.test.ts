/** Entries in the stream of a lost primary are applied before `force` gives the rest up. */
import type { Bus } from '@keelson/bus';
import type { ReplicationTransport } from '@keelson/cluster-member';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { advanceClockUntilSettled, joinSet, operationToken } from '../../test/cluster-steps.ts';
import { inProcessTransport } from '../../test/in-process-transport.ts';
import { type Document, openSysHarness, type SysHarness } from '../../test/sys-harness.ts';

const POLICY = { policy: 'path "a" { capabilities = ["read"] }' };
const PROMOTE = 'sys/replication/dr/secondary/promote';

let primary: SysHarness;
let secondary: SysHarness;
let primaryRoot: string;
let operation: string;
/** Delays the delivery of stream entries to the secondary. */
let mayArrive: Promise<void>;
/** Called when the secondary measures the end of the stream. */
let onMeasured: () => void;

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

const heldBack = (bus: Bus): Bus => ({
  ...bus,
  tail: (stream) => {
    onMeasured();
    return bus.tail(stream);
  },
  async *consume(stream, sequence, signal) {
    for await (const message of bus.consume(stream, sequence, signal)) {
      await Promise.race([mayArrive, untilAborted(signal)]);
      if (signal.aborted) return;
      yield message;
    }
  },
});

/** The warning for a primary that did not step back. */
const notKnown = expect.stringMatching(
  /^What the former primary has committed .* is not known here/,
);

const status = async (cluster: SysHarness): Promise<Document> =>
  (await cluster.call('GET', 'sys/replication/dr/status')).body?.data;

const until = async (isSo: () => Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
};

beforeEach(async () => {
  mayArrive = Promise.resolve();
  onMeasured = () => undefined;
  const shared: ReplicationTransport = inProcessTransport();
  primary = await openSysHarness({ transport: shared });
  const { key, rootToken } = await primary.initialize();
  primaryRoot = rootToken;
  secondary = await openSysHarness({
    transport: {
      ...shared,
      connect: async (addresses) => heldBack(await shared.connect(addresses)),
    },
  });
  const { rootToken: root } = await secondary.initialize();
  await joinSet('dr', primary, { cluster: secondary, root });
  await until(async () => (await status(secondary)).state === 'stream-wals');
  operation = await operationToken(secondary, key);
}, 60_000);
afterEach(async () => {
  await secondary.close();
  await primary.close();
}, 60_000);

/** Writes on the primary while nothing arrives at the secondary. */
const writeUnseen = async (): Promise<() => void> => {
  await until(
    async () => (await status(secondary)).merkle_root === (await status(primary)).merkle_root,
  );
  const { promise, resolve } = Promise.withResolvers<void>();
  mayArrive = promise;
  await primary.asRoot('POST', 'sys/policies/acl/newest', { body: POLICY });
  const body = { dr_operation_token: operation, dry_run: true };
  await until(
    async () => (await secondary.call('POST', PROMOTE, { body })).body.data.missing_entries > 0,
  );
  return resolve;
};

const promoteByForce = () =>
  secondary.call('POST', PROMOTE, { body: { dr_operation_token: operation, force: true } });

test('entries that arrive while it waits are not lost', { timeout: 60_000 }, async () => {
  const arrive = await writeUnseen();
  const { last_wal: wanted } = await status(primary);
  let measured = 0;
  onMeasured = () => {
    measured += 1;
  };
  let isOver = false;
  const promoting = promoteByForce().finally(() => {
    isOver = true;
  });
  // The promotion found entries, waited, and measured again.
  await until(async () => {
    secondary.clock.advance(100);
    return measured >= 2 || isOver;
  });
  arrive();
  await until(async () => ((await status(secondary))?.last_remote_wal ?? wanted) >= wanted);
  const promoted = await advanceClockUntilSettled(secondary, promoting);
  expect(promoted).toMatchObject({
    status: 200,
    body: { missing_entries: 0, warnings: [expect.stringContaining('promoted'), notKnown] },
  });
  const read = await secondary.call('GET', 'sys/policies/acl/newest', { token: primaryRoot });
  expect(read.status).toBe(200);
});

test('entries that do not arrive are abandoned after a while, and the response says how many', {
  timeout: 60_000,
}, async () => {
  await writeUnseen();
  const promoted = await advanceClockUntilSettled(secondary, promoteByForce());
  expect(promoted.status).toBe(200);
  expect(promoted.body.missing_entries).toBeGreaterThan(0);
  expect(promoted.body.warnings).toEqual([
    expect.stringContaining('promoted'),
    expect.stringMatching(
      /^\d+ entries of the former primary are given up: \d+ of them are in its stream/,
    ),
    notKnown,
  ]);
});
