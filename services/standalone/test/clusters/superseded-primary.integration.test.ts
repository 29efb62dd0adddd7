/**
 * A primary that was lost and replaced returns without knowing of its successor. Clusters that know
 * of the successor never follow it again, and it stops as soon as any of them informs it. Each site
 * has its own NATS.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type NatsServer, startNats } from '@keelson/testkit';
import {
  attach,
  type Cluster,
  follow,
  generateOperationToken,
  generateRoot,
  startCluster,
  until,
  untilEqual,
  untilStreaming,
} from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const WITHIN_MS = 240_000;
const UNREACHED = ['unreached-1', 'unreached-2', 'unreached-3'];
const POLICY = { policy: 'path "pki/*" { capabilities = ["read"] }' };
const DR = 'sys/replication/dr';

let natsOfFirst: NatsServer;
let natsOfSpare: NatsServer;
let first: Cluster;
let spare: Cluster;
let branch: Cluster;

beforeAll(async () => {
  [natsOfFirst, natsOfSpare] = [
    await startNats({ jetstream: true }),
    await startNats({ jetstream: true }),
  ];
  [first, spare, branch] = await Promise.all([
    startCluster(natsOfFirst.url),
    startCluster(natsOfSpare.url),
    startCluster(natsOfSpare.url),
  ]);
  for (const kind of ['performance', 'dr'])
    await first.v1('POST', `sys/replication/${kind}/primary/enable`);
  await attach('dr', first, spare, 'spare');
  await attach('performance', first, branch, 'branch');
  branch.token = await generateRoot(branch, first.shares);
}, WITHIN_MS);
afterAll(async () => {
  for (const cluster of [first, spare, branch]) await cluster?.stop();
  for (const nats of [natsOfFirst, natsOfSpare]) await nats?.[Symbol.asyncDispose]();
}, WITHIN_MS);

const write = (cluster: Cluster, name: string) =>
  cluster.v1('POST', `sys/policies/acl/${name}`, POLICY);

/** Lines of the log of a cluster that contain the text, once there are any. */
const linesOf = async (
  cluster: Cluster,
  text: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> => {
  const log = await until(
    () => readFile(join(cluster.process().dataFolder, 'keelson.log'), 'utf8'),
    (lines) => lines.includes(text),
  );
  return log
    .split('\n')
    .filter((line) => line.includes(text))
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
};

const promote = async (cluster: Cluster): Promise<void> => {
  const dr_operation_token = await generateOperationToken(cluster, first.shares);
  const promoted = await until(
    () => cluster.v1('POST', `${DR}/secondary/promote`, { dr_operation_token, force: true }),
    ({ status }) => status !== 503,
  );
  expect(promoted.status).toBe(200);
};

/** The answers that load balancers check. */
const healthOf = async (cluster: Cluster) => {
  const answerOf = async (path: string) => {
    const answer = await fetch(`${cluster.process().http}${path}`);
    return { status: answer.status, body: (await answer.json()) as object };
  };
  return { ready: await answerOf('/readyz'), health: await answerOf('/v1/sys/health') };
};

const untilSuperseded = (cluster: Cluster) =>
  until(
    () => cluster.status('performance'),
    (status) => status?.state === 'superseded',
  );

describe('a primary that restarts after it was replaced', { timeout: WITHIN_MS }, () => {
  test('is not followed by a secondary of its successor, and stops', async () => {
    await until(
      () => branch.status('performance'),
      ({ known_primary_cluster_addrs: known }) => known.includes(natsOfSpare.url),
    );
    // Acknowledged, and not published: no cluster but the first will ever have them.
    await natsOfFirst.process.kill();
    for (const name of UNREACHED) expect((await write(first, name)).status).toBe(204);
    await first.process().stop('SIGKILL');
    await natsOfFirst.process.start();
    await promote(spare);
    expect(await linesOf(spare, 'promoted without the end of the log')).toHaveLength(1);
    spare.token = first.token;
    await untilStreaming('performance', branch);
    await until(
      () => write(branch, 'after'),
      ({ status }) => status === 204,
    );
    for (const cluster of [spare, branch])
      expect((await cluster.status('performance')).ssct_generation_counter).toBe(1);
    await spare.process().stop();
    await first.restart('SIGKILL');
    await untilSuperseded(first);
    expect(await first.status('dr')).toMatchObject({ mode: 'primary', state: 'superseded' });
    const refused = await write(first, 'split-brain');
    expect(refused).toMatchObject({
      status: 503,
      body: { errors: [expect.stringContaining('another cluster was promoted')] },
    });
    expect((await first.v1('GET', 'sys/policies/acl/split-brain')).status).toBe(404);
    await until(
      () => readFile(join(first.process().dataFolder, 'keelson.log'), 'utf8'),
      (log) => log.includes('another cluster was promoted'),
    );
    // A load balancer leaves it, whichever address it checks.
    expect(await healthOf(first)).toMatchObject({
      ready: {
        status: 503,
        body: {
          status: 'not ready',
          seal: 'open',
          superseded: true,
          impaired: { sys: expect.arrayContaining([expect.stringContaining('was promoted')]) },
        },
      },
      health: { status: 472, body: { replication_superseded: true } },
    });
    // Its earlier data can be read; no other cluster is admitted.
    expect((await first.v1('GET', 'sys/policies/acl/default')).status).toBe(200);
    for (const kind of ['performance', 'dr']) {
      const path = `sys/replication/${kind}/primary/secondary-token`;
      expect((await first.v1('POST', path, { id: 'late' })).status).toBe(503);
    }
    // The branch waits for its primary with all that it had of it, and gives no write to the other.
    expect((await write(branch, 'split-brain')).status).toBe(503);
    expect((await branch.v1('GET', 'sys/policies/acl/after')).status).toBe(200);
    await first.restart();
    expect(await first.status('performance')).toMatchObject({ state: 'superseded' });
  });

  test('leaves its secondaries to its successor, and follows it', async () => {
    await spare.restart();
    await untilStreaming('performance', branch);
    await untilEqual('performance', spare, branch);
    expect((await write(branch, 'again')).status).toBe(204);
    expect((await first.v1('POST', `${DR}/primary/demote`)).status).toBe(200);
    const operation = await generateOperationToken(first, first.shares);
    await follow('dr', spare, first, 'former', operation);
    await untilEqual('dr', spare, first);
    expect(await first.status('dr')).toMatchObject({ ssct_generation_counter: 1 });
    // The writes that the others never had are gone, and the log names them.
    expect((await first.v1('GET', `sys/policies/acl/${UNREACHED[0]}`)).status).not.toBe(200);
    const lost = await linesOf(first, 'did not reach its successor');
    expect(lost.filter(({ kind, service }) => kind === 'dr' && service === 'sys')).toEqual([
      expect.objectContaining({
        level: 'warn',
        is_cut: false,
        records: expect.objectContaining({ 'shared/policies': UNREACHED.length }),
        paths: expect.arrayContaining(
          UNREACHED.map((name) => expect.stringMatching(new RegExp(`^shared/policies/.*${name}$`))),
        ),
      }),
    ]);
  });

  test('is informed by its successor when no secondary contacts it', async () => {
    await branch.stop();
    await spare.process().stop('SIGKILL');
    await promote(first);
    await spare.restart('SIGKILL');
    await untilSuperseded(spare);
    expect((await write(spare, 'split-brain')).status).toBe(503);
    expect(await first.status('dr')).toMatchObject({
      mode: 'primary',
      state: 'running',
      ssct_generation_counter: 2,
    });
    expect((await write(first, 'goes-on')).status).toBe(204);
  });
});
