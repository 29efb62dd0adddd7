/**
 * Clusters in processes of their own that are killed (SIGKILL) at each step an entry takes: committed and not
 * published, while it is published, published and not applied, while it is applied. Where a step cannot be
 * held still the kills come among writes; the checker says what holds wherever they fell.
 */
import {
  type FaultProxy,
  findBroken,
  type NatsServer,
  startFaultProxy,
  startNats,
  WriteLedger,
} from '@keelson/testkit';
import {
  attach,
  type Cluster,
  generateRoot,
  startCluster,
  until,
  untilStreaming,
} from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const WITHIN_MS = 300_000;
const POLICY = 'path "pki/*" { capabilities = ["read"] }';
const WRITERS = 4;

let nats: NatsServer;
/** Between the primary and its NATS; secondaries connect to NATS directly. */
let line: FaultProxy;
let primary: Cluster;
let branch: Cluster;
let spare: Cluster;

beforeAll(async () => {
  nats = await startNats({ jetstream: true });
  line = await startFaultProxy(nats.port);
  [primary, branch, spare] = await Promise.all([
    startCluster(`nats://127.0.0.1:${line.port}`, { KEELSON_CLUSTER_ADDRESS: nats.url }),
    startCluster(nats.url),
    startCluster(nats.url),
  ]);
  for (const kind of ['performance', 'dr'])
    await primary.v1('POST', `sys/replication/${kind}/primary/enable`);
  await attach('performance', primary, branch, 'branch');
  await attach('dr', primary, spare, 'spare');
  branch.token = await generateRoot(branch, primary.shares);
}, WITHIN_MS);
afterAll(async () => {
  for (const cluster of [primary, branch, spare]) await cluster?.stop();
  await line?.[Symbol.asyncDispose]();
  await nats?.[Symbol.asyncDispose]();
}, WITHIN_MS);

const write = async (key: string): Promise<number> =>
  (await primary.v1('POST', `sys/policies/acl/${key}`, { policy: POLICY })).status;

const policiesOf = async (cluster: Cluster): Promise<ReadonlySet<string>> =>
  new Set((await cluster.v1('LIST', 'sys/policies/acl')).body.data.keys);

/**
 * Writes until the returned function is called, which resolves when the last write was answered.
 */
const startWriting = (prefix: string, ledger: WriteLedger): (() => Promise<void>) => {
  let isStopped = false;
  const writing = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let turn = 0; !isStopped; turn += 1) {
      const key = `${prefix}-${writer}-${turn}`;
      await ledger.attempt(key, () => write(key));
    }
  });
  return async () => {
    isStopped = true;
    await Promise.all(writing);
  };
};

/** Resolves when the given number of further writes was acknowledged. */
const untilWritten = (ledger: WriteLedger, more: number): Promise<number> => {
  const before = ledger.acknowledged.length;
  return until(
    async () => ledger.acknowledged.length,
    (count) => count >= before + more,
  );
};

const rootOf = (cluster: Cluster, kind: 'performance' | 'dr') => async () =>
  (await cluster.status(kind))?.merkle_root as string;

/** Violations of: no acknowledged write is missing, on any side. */
const findLost = async (ledger: WriteLedger): Promise<readonly string[]> => {
  await untilStreaming('performance', branch);
  await untilStreaming('dr', spare);
  const roots = {
    branch: [rootOf(primary, 'performance'), rootOf(branch, 'performance')],
    spare: [rootOf(primary, 'dr'), rootOf(spare, 'dr')],
  } as const;
  const onPrimary = await findBroken({ ledger, held: await policiesOf(primary), roots });
  // Roots were equal before the branch was asked: it has all of it.
  return [...onPrimary, ...(await findBroken({ ledger, held: await policiesOf(branch) }))];
};

describe('killed', { timeout: WITHIN_MS }, () => {
  test('between commit and publish: the primary, with entries that no other cluster has', async () => {
    const ledger = new WriteLedger();
    line.cut();
    for (let turn = 0; turn < 20; turn += 1)
      await ledger.attempt(`unpublished-${turn}`, () => write(`unpublished-${turn}`));
    expect(ledger.acknowledged).toHaveLength(20);
    const seen = await policiesOf(branch);
    expect([...seen].filter((name) => name.startsWith('unpublished-'))).toEqual([]);
    const restarted = primary.restart('SIGKILL');
    line.pass();
    await restarted;
    expect(await findLost(ledger)).toEqual([]);
  });

  test('between publish and apply: both secondaries, while entries arrive', async () => {
    const ledger = new WriteLedger();
    await Promise.all([branch.process().stop('SIGKILL'), spare.process().stop('SIGKILL')]);
    for (let turn = 0; turn < 20; turn += 1)
      await ledger.attempt(`unapplied-${turn}`, () => write(`unapplied-${turn}`));
    await Promise.all([branch.restart('SIGKILL'), spare.restart('SIGKILL')]);
    expect(await findLost(ledger)).toEqual([]);
  });

  test('during writes, each in turn: while entries are published and applied', async () => {
    const ledger = new WriteLedger();
    const stopWriting = startWriting('among', ledger);
    for (const cluster of [branch, primary, spare]) {
      await untilWritten(ledger, 20);
      await cluster.restart('SIGKILL');
    }
    await untilWritten(ledger, 20);
    await stopWriting();
    expect(await findLost(ledger)).toEqual([]);
  });
});
