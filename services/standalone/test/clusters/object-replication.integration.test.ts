/**
 * States in object storage on replicating clusters: a performance secondary with a storage of its own, and a
 * DR secondary that shares the storage of the primary and is promoted.
 */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openFolderStorage } from '@keelson/objects';
import { type NatsServer, type S3Server, startNats, startS3 } from '@keelson/testkit';
import {
  attach,
  type Cluster,
  generateOperationToken,
  startCluster,
  until,
  untilEqual,
  untilStreaming,
} from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, expect, test } from 'vitest';

const WITHIN_MS = 240_000;
const PERFORMANCE = 'sys/replication/performance';
const DR = 'sys/replication/dr';

let nats: NatsServer;
let server: S3Server;
let primary: Cluster;
let branch: Cluster;
let spare: Cluster;

const SHARED = { KEELSON_OBJECT_STORAGE_SHARED: 'true' };

const settings = (prefix: string, more: Readonly<Record<string, string>> = {}) => ({
  KEELSON_OBJECT_STORAGE_ENDPOINT: server.access.endpoint,
  KEELSON_OBJECT_STORAGE_BUCKET: server.access.bucket,
  KEELSON_OBJECT_STORAGE_PREFIX: prefix,
  KEELSON_OBJECT_STORAGE_ACCESS_KEY_ID: server.access.accessKeyId,
  KEELSON_OBJECT_STORAGE_SECRET_ACCESS_KEY: server.access.secretAccessKey,
  ...more,
});

beforeAll(async () => {
  [nats, server] = await Promise.all([startNats({ jetstream: true }), startS3()]);
  [primary, branch] = await Promise.all([
    startCluster(nats.url, settings('main/', SHARED)),
    startCluster(nats.url, settings('branch/')),
  ]);
  spare = await startCluster(nats.url, settings('main/', SHARED));
  await primary.v1('POST', `${PERFORMANCE}/primary/enable`, {});
  await primary.v1('POST', `${DR}/primary/enable`, {});
}, 600_000);
afterAll(async () => {
  await Promise.allSettled([primary, branch, spare].map((cluster) => cluster?.stop()));
  await nats?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
}, WITHIN_MS);

const storageOf = (prefix: string) => openFolderStorage(join(server.bucketFolder, prefix));
const objectsOf = async (prefix: string) =>
  (await storageOf(prefix).list('contents/', { limit: 1000 })).map(({ key }) => key);

const stateOf = (serial: number): string =>
  JSON.stringify({
    version: 4,
    serial,
    lineage: 'l',
    outputs: { padding: { value: `${serial} `.repeat(500_000), type: 'string' } },
    resources: [],
  });

/** @throws Error with the document of a refusal */
const created = async (cluster: Cluster, path: string, type: string, attributes: object) => {
  const answer = await cluster.api('POST', path, { data: { type, attributes } }, primary.apiToken);
  if (answer.status >= 300) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.data;
};

const storeState = async (cluster: Cluster, workspaceId: string, serial: number): Promise<void> => {
  const state = Buffer.from(stateOf(serial));
  await created(cluster, `workspaces/${workspaceId}/state-versions`, 'state-versions', {
    serial,
    md5: createHash('md5').update(state).digest('hex'),
    state: state.toString('base64'),
  });
};

/** The text of the current state; the answer's status if there is none. */
const loadState = async (cluster: Cluster, workspaceId: string): Promise<string | number> => {
  const path = `workspaces/${workspaceId}/current-state-version`;
  const found = await cluster.api('GET', path, undefined, primary.apiToken);
  if (found.status !== 200) return found.status;
  const { pathname, search } = new URL(
    found.body.data.attributes['hosted-state-download-url'] as string,
  );
  const response = await fetch(`${cluster.process().http}${pathname}${search}`);
  return response.status === 200 ? response.text() : response.status;
};

let workspaceId = '';

test(
  'a secondary with a storage of its own copies the objects, those of before it was enabled included',
  async () => {
    await created(primary, 'organizations', 'organizations', {
      name: 'acme',
      email: 'a@b.example',
    });
    workspaceId = (
      await created(primary, 'organizations/acme/workspaces', 'workspaces', { name: 'app' })
    ).id;
    await primary.api('POST', `workspaces/${workspaceId}/actions/lock`, {});
    await storeState(primary, workspaceId, 1);
    await attach('performance', primary, branch, 'branch');
    await until(
      () => objectsOf('branch'),
      (objects) => objects.length === 2,
    );
    await storeState(primary, workspaceId, 2);
    await untilEqual('performance', primary, branch);
    await until(
      () => objectsOf('branch'),
      (objects) => objects.length === 4,
    );
    expect(await objectsOf('branch')).toEqual(await objectsOf('main'));
    for (const key of await objectsOf('main'))
      expect(await storageOf('branch').get(key)).toEqual(await storageOf('main').get(key));
  },
  WITHIN_MS,
);

test(
  'reads an object that is not copied from the primary, and its own copies without it',
  async () => {
    await rm(join(server.bucketFolder, 'branch', 'contents'), { recursive: true });
    expect(await loadState(branch, workspaceId)).toBe(stateOf(2));
    // A start compares everything again.
    await branch.restart();
    await until(
      () => objectsOf('branch'),
      (objects) => objects.length === 4,
    );
    await server.process.stop();
    expect(await loadState(branch, workspaceId)).toBe(503);
    await server.process.start();
    await rm(join(server.bucketFolder, 'main', 'contents'), { recursive: true });
    expect(await loadState(branch, workspaceId)).toBe(stateOf(2));
    expect(await loadState(primary, workspaceId)).toBe(500);
    for (const key of await objectsOf('branch'))
      await storageOf('main').put(key, (await storageOf('branch').get(key)) ?? new Uint8Array());
    expect(await loadState(primary, workspaceId)).toBe(stateOf(2));
  },
  WITHIN_MS,
);

test(
  'nothing of a workspace service that a paths filter withholds is copied',
  async () => {
    const filter = `${PERFORMANCE}/primary/paths-filter/branch`;
    const set = await primary.v1('POST', filter, { mode: 'deny', paths: ['api/v2'] });
    expect(set.status).toBe(204);
    await until(
      () => loadState(branch, workspaceId),
      (found) => typeof found === 'number',
    );
    const before = await objectsOf('branch');
    await storeState(primary, workspaceId, 3);
    await branch.restart();
    await untilStreaming('performance', branch);
    expect(await objectsOf('branch')).toEqual(before);
  },
  WITHIN_MS,
);

test(
  'a DR secondary that shares the storage serves and goes on when it is promoted',
  async () => {
    await attach('dr', primary, spare, 'spare');
    await untilEqual('dr', primary, spare);
    const { shares } = primary;
    const before = await objectsOf('main');
    await primary.process().stop('SIGKILL');
    const token = await generateOperationToken(spare, shares);
    const promoted = await until(
      () => spare.v1('POST', `${DR}/secondary/promote`, { dr_operation_token: token, force: true }),
      ({ status }) => status !== 503,
    );
    expect(promoted.status).toBe(200);
    await until(
      () => loadState(spare, workspaceId),
      (found) => found === stateOf(3),
    );
    await storeState(spare, workspaceId, 4);
    expect(await loadState(spare, workspaceId)).toBe(stateOf(4));
    expect((await objectsOf('main')).length).toBe(before.length + 2);
  },
  WITHIN_MS,
);
