/** The built-in runners of two clusters that replicate: a secondary executes nothing, a promoted cluster does. */
import { type NatsServer, startNats } from '@keelson/testkit';
import {
  attach,
  type Cluster,
  generateRoot,
  startCluster,
  until,
  untilStreaming,
} from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, expect, test } from 'vitest';

const WITHIN_MS = 240_000;
const PERFORMANCE = 'sys/replication/performance';
const TOKEN = 'the-token-of-the-runners-of-both-clusters';

let nats: NatsServer;
let primary: Cluster;
let secondary: Cluster;

beforeAll(async () => {
  nats = await startNats({ jetstream: true });
  [primary, secondary] = await Promise.all([
    // Its runner is elsewhere, and not started.
    startCluster(nats.url, { KEELSON_RUNNER_TOKEN: TOKEN }),
    startCluster(nats.url, {
      KEELSON_RUNNER: 'true',
      KEELSON_RUNNER_TOKEN: TOKEN,
      KEELSON_RUNNER_TOOL: 'tofu',
    }),
  ]);
  await primary.v1('POST', `${PERFORMANCE}/primary/enable`, {});
  await attach('performance', primary, secondary, 'branch');
  await untilStreaming('performance', secondary);
  secondary.token = await generateRoot(secondary, primary.shares);
}, WITHIN_MS);
afterAll(async () => {
  await primary.stop();
  await secondary.stop();
  await nats[Symbol.asyncDispose]();
}, WITHIN_MS);

const resource = (type: string, attributes: object, relationships: object = {}) => ({
  data: { type, attributes, relationships },
});
const api = (cluster: Cluster, method: string, path: string, body?: unknown) =>
  cluster.api(method, path, body, primary.apiToken);

test('a secondary leaves runs to the primary, and takes them once it is promoted', {
  timeout: WITHIN_MS,
}, async () => {
  const organization = { name: 'acme', email: 'a@b.example' };
  await api(primary, 'POST', 'organizations', resource('organizations', organization));
  const path = 'organizations/acme/workspaces';
  const made = await api(primary, 'POST', path, resource('workspaces', { name: 'web' }));
  const id = made.body.data.id as string;
  const version = await api(
    primary,
    'POST',
    `workspaces/${id}/configuration-versions`,
    resource('configuration-versions', { 'auto-queue-runs': false }),
  );
  const url = version.body.data.attributes['upload-url'] as string;
  expect((await fetch(url, { method: 'PUT', body: Uint8Array.of(0x1f, 0x8b) })).status).toBe(204);
  const asked = { workspace: { data: { type: 'workspaces', id } } };
  const run = await api(primary, 'POST', 'runs', resource('runs', {}, asked));
  expect(run.status).toBe(201);
  const runId = run.body.data.id as string;
  const shownBy = (cluster: Cluster) => api(cluster, 'GET', `runs/${runId}`);
  await until(
    () => shownBy(secondary),
    ({ status }) => status === 200,
  );
  // The token that both clusters have opens nothing here.
  const claim = resource('agents', { name: 'r', version: '1', 'runtime-versions': [] });
  const refused = await secondary.api('POST', 'runner/actions/claim', claim, TOKEN);
  expect(refused.status).toBe(401);
  const waiting = await shownBy(primary);
  expect(waiting.body.data.attributes.status).toBe('pending');

  const promoted = await secondary.v1('POST', `${PERFORMANCE}/secondary/promote`, {
    force: true,
  });
  expect(promoted.status).toBe(200);
  const ended = await until(
    () => shownBy(secondary),
    ({ status, body }) => status === 200 && body.data.attributes.status !== 'pending',
  );
  expect(['planning', 'errored']).toContain(ended.body.data.attributes.status);
  const plan = await until(
    () => api(secondary, 'GET', `plans/${runId.replace('run-', 'plan-')}`),
    ({ body }) => body.data.attributes.status === 'errored',
  );
  expect(plan.body.data.attributes['execution-details']).toEqual({ mode: 'remote' });
  expect((await shownBy(primary)).body.data.attributes.status).toBe('pending');
});
