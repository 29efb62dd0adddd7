/** A caller that switches between clusters of a performance set, and reads its own writes. */
import { type NatsServer, startNats } from '@keelson/testkit';
import {
  attach,
  type Cluster,
  generateRoot,
  startCluster,
  until,
  untilEqual,
  untilStreaming,
} from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const WITHIN_MS = 120_000;
const POLICY = JSON.stringify({ policy: 'path "pki/*" { capabilities = ["read"] }' });
const INDEX = 'x-service-index';

let nats: NatsServer;
let primary: Cluster;
let secondary: Cluster;

beforeAll(async () => {
  nats = await startNats({ jetstream: true });
  [primary, secondary] = await Promise.all([startCluster(nats.url), startCluster(nats.url)]);
  await primary.v1('POST', 'sys/mounts/pki', { type: 'pki' });
  await primary.v1('POST', 'sys/replication/performance/primary/enable');
  await attach('performance', primary, secondary, 'branch');
  await untilEqual('performance', primary, secondary);
  secondary.token = await generateRoot(secondary, primary.shares);
}, WITHIN_MS);
afterAll(async () => {
  await primary.stop();
  await secondary.stop();
  await nats[Symbol.asyncDispose]();
}, WITHIN_MS);

const call = (
  cluster: Cluster,
  method: string,
  path: string,
  {
    headers = {},
    body,
  }: { readonly headers?: Readonly<Record<string, string>>; readonly body?: string } = {},
): Promise<Response> =>
  fetch(cluster.process().http + path, {
    method,
    headers: {
      ...(path.startsWith('/v1')
        ? { 'x-service-token': cluster.token }
        : {
            authorization: `Bearer ${primary.apiToken}`,
            'content-type': 'application/vnd.api+json',
          }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  });

const indexOf = (response: Response, name = INDEX): string => response.headers.get(name) ?? '';

const policyPath = (name: string): string => `/v1/sys/policies/acl/${name}`;

describe('a write of two megabytes', { timeout: WITHIN_MS }, () => {
  const path = '/v1/sys/config/ui/custom-messages';
  /** Text and options of a message, as long as they may be. */
  const message = Buffer.alloc(750_000, 'text').toString('base64');
  const options = Object.fromEntries(['a', 'b'].map((key) => [key, key.repeat(499_990)]));
  const body = JSON.stringify({
    title: 'long',
    message,
    options,
    start_time: '2020-01-01T00:00:00Z',
  });
  interface Found {
    readonly data: { readonly id: string; readonly message: string; readonly options: object };
  }

  test('is forwarded by the secondary, gets a response of the same size, and is readable there', async () => {
    const made = (await (await call(secondary, 'POST', path, { body })).json()) as Found;
    const ofMessage = `${path}/${made.data.id}`;
    const changed = (await (await call(secondary, 'POST', ofMessage, { body })).json()) as Found;
    expect(changed.data.message === message).toBe(true);
    for (const cluster of [secondary, primary]) {
      const { data } = (await (await call(cluster, 'GET', ofMessage)).json()) as Found;
      expect([data.message === message, JSON.stringify(data.options)]).toEqual([
        true,
        JSON.stringify(options),
      ]);
    }
  });

  test('is answered for many at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => call(secondary, 'POST', path, { body })),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  });

  test('is refused above the limit of the edge', async () => {
    const huge = `{"policy":"${'x'.repeat(33 * 1024 * 1024)}"}`;
    const refused = await call(secondary, 'POST', policyPath('huge'), { body: huge });
    expect(refused.status).toBe(413);
  });
});

describe('an index', { timeout: WITHIN_MS }, () => {
  test('is returned by every write of every service, on both sides, and by nothing else', async () => {
    const role = JSON.stringify({ key_type: 'ec' });
    const organization = JSON.stringify({
      data: { type: 'organizations', attributes: { name: 'acme', email: 'a@b.example' } },
    });
    const writes = [
      await call(primary, 'POST', policyPath('a'), { body: POLICY }),
      await call(secondary, 'POST', policyPath('b'), { body: POLICY }),
      await call(primary, 'POST', '/v1/pki/roles/a', { body: role }),
      await call(secondary, 'POST', '/v1/pki/roles/b', { body: role }),
      await call(primary, 'POST', '/api/v2/organizations', { body: organization }),
      // A write to the secondary's own data: the index includes how far it has followed the primary.
      await call(secondary, 'POST', '/v1/auth/token/create', { body: '{}' }),
    ];
    expect(writes.map(({ ok }) => ok)).toEqual(writes.map(() => true));
    for (const written of writes)
      expect(Buffer.from(indexOf(written), 'base64').toString()).toMatch(
        /^v1:[\w-]+:\d+:\d+:[0-9a-f]{64}$/,
      );
    const others = [
      await call(primary, 'GET', policyPath('a')),
      await call(primary, 'POST', policyPath('c'), { body: '{"policy":"path {"}' }),
    ];
    expect(others.map((response) => response.headers.has(INDEX))).toEqual([false, false]);
  });

  test('of a write on the primary makes it readable on the secondary', async () => {
    for (let round = 0; round < 20; round += 1) {
      const written = await call(primary, 'POST', policyPath(`r${round}`), { body: POLICY });
      const headers = { [INDEX]: indexOf(written) };
      expect((await call(secondary, 'GET', policyPath(`r${round}`), { headers })).status).toBe(200);
    }
  });

  test('of a new mount covers requests to the engine, which sys routes', async () => {
    const mounted = await call(primary, 'POST', '/v1/sys/mounts/other', { body: '{"type":"pki"}' });
    const headers = { [INDEX]: indexOf(mounted) };
    const listed = await call(secondary, 'LIST', '/v1/other/roles', { headers });
    expect(await listed.json()).toEqual({ errors: [] });
  });

  test('has the other dialect’s names for its clients', async () => {
    const headers = { 'x-vault-token': primary.token };
    const written = await call(primary, 'POST', policyPath('vendor'), { headers, body: POLICY });
    const index = indexOf(written, 'x-vault-index');
    expect(index).not.toBe('');
    const read = await call(secondary, 'GET', policyPath('vendor'), {
      headers: { 'x-vault-index': index, 'x-vault-inconsistent': 'forward-active-node' },
    });
    expect(read.status).toBe(200);
  });

  test('of a write made on a secondary is valid on the primary', async () => {
    const written = await call(secondary, 'POST', policyPath('there'), { body: POLICY });
    const headers = { [INDEX]: indexOf(written) };
    expect((await call(primary, 'GET', policyPath('there'), { headers })).status).toBe(200);
  });

  test.for(['nonsense', 'djE6YTowOjA6YWI=', 'a, b, c'])(
    'that is invalid is ignored: %s',
    async (index) => {
      const read = await call(secondary, 'GET', policyPath('a'), { headers: { [INDEX]: index } });
      expect(read.status).toBe(200);
    },
  );

  test('that cannot be reached is reported, and reached later', async () => {
    await nats.process.kill();
    const written = await call(primary, 'POST', policyPath('late'), { body: POLICY });
    const headers = { [INDEX]: indexOf(written) };
    const missing = await Promise.all([
      call(secondary, 'GET', policyPath('late'), { headers }),
      call(secondary, 'LIST', '/v1/pki/roles', { headers }),
    ]);
    for (const response of missing) {
      expect(response.status).toBe(412);
      expect(await response.json()).toEqual({ errors: ['required index state not present'] });
    }
    expect((await call(secondary, 'GET', policyPath('a'))).status).toBe(200);
    await nats.process.start();
    const read = await until(
      () => call(secondary, 'GET', policyPath('late'), { headers }),
      ({ status }) => status !== 412,
    );
    expect(read.status).toBe(200);
    await untilStreaming('performance', secondary);
  });
});
