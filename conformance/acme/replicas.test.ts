/** Orders against two gateways and two certificate authorities, while one of these is killed. */
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  AcmeRefusal,
  type AcmeReply,
  AcmeSession,
  type DnsServer,
  startDns,
  startPostgres,
  startRedis,
} from '@keelson/testkit';
import { type DistributedCluster, startDistributed } from '@keelson/testkit/distributed-cluster';
import { until } from '@keelson/testkit/replication-cluster';
import { crypto } from 'acme-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBalancer } from './balancer.ts';

/** Interval between polls of the server. */
const POLL_MS = 250;
const ORDERS = 500;

const stack = new AsyncDisposableStack();
let cluster: DistributedCluster;
let dns: DnsServer;
let web: Server;
/** "http://127.0.0.1:PORT" of the address before both gateways. */
let url: string;
/** Responses of the web server, by token. */
const files = new Map<string, string>();

const call = async (path: string, body: object): Promise<void> => {
  // A replica that has just started has no keys yet, and says so.
  const { status, body: answer } = await until(
    () => cluster.v1('POST', path, body),
    (one) => one.status !== 503,
  );
  expect([path, status < 300, answer?.errors]).toEqual([path, true, undefined]);
};

beforeAll(async () => {
  dns = stack.use(await startDns({ defaultAddress: '127.0.0.1' }));
  web = createServer((request, response) => {
    const token = request.url?.slice(request.url.lastIndexOf('/') + 1) ?? '';
    response.end(files.get(token) ?? '');
  }).listen(0, '127.0.0.1');
  stack.defer(() => {
    web.closeAllConnections();
    web.close();
  });
  await once(web, 'listening');
  const { port } = web.address() as AddressInfo;
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  stack.use(postgres);
  stack.use(redis);
  cluster = await startDistributed({
    postgres,
    redisUrl: redis.url,
    name: 'acme',
    replicas: { pki: 2, gateway: 2 },
    settings: { pki: { ACME_HTTP_PORT: String(port) } },
  });
  stack.defer(() => cluster.stop());
  ({ url } = stack.use(await startBalancer(cluster.urls)));
  await call('sys/mounts/pki', {
    type: 'pki',
    config: {
      max_lease_ttl: '87600h',
      allowed_response_headers: ['Location', 'Replay-Nonce', 'Link', 'Retry-After'],
    },
  });
  const root = { common_name: 'Root', ttl: '87600h', key_type: 'ec' };
  await call('pki/root/generate/internal', root);
  await call('pki/config/cluster', { path: `${url}/v1/pki` });
  await call('pki/config/acme', { enabled: true, dns_resolver: dns.address });
});
afterAll(() => stack.disposeAsync());

const open = (connections: number, keepAlive: boolean): Promise<AcmeSession> =>
  AcmeSession.open({ directory: `${url}/v1/pki/acme/directory`, connections, keepAlive });

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, POLL_MS));

/** A broken connection, or an unavailable service: the outcome is unknown. */
const isOutage = (error: unknown): boolean =>
  !(error instanceof AcmeRefusal) || error.status >= 500;

/** Repeats what an outage interrupted, as clients do. */
const persistently = async <T>(step: () => Promise<T>): Promise<T> => {
  for (;;)
    try {
      return await step();
    } catch (error) {
      if (!isOutage(error)) throw error;
      await pause();
    }
};

const waitFor = async (session: AcmeSession, url: string, awaited: readonly string[]) => {
  for (;;) {
    const { json } = await persistently(() => session.post(url));
    if (awaited.includes(json.status)) return json;
    if (json.status === 'invalid') throw new Error(JSON.stringify(json));
    await pause();
  }
};

const finish = async (session: AcmeSession, ordered: AcmeReply, csr: string): Promise<string> => {
  const [authorization] = ordered.json.authorizations as [string];
  const { challenges } = (await persistently(() => session.post(authorization))).json;
  const { token, url } = challenges.find(({ type }: { type: string }) => type === 'http-01');
  files.set(token, session.keyAuthorization(token));
  await persistently(() => session.post(url, {}));
  await waitFor(session, ordered.location, ['ready']);
  await persistently(async () => {
    // The order was finalized already, and only the response was lost.
    const { json } = await session.post(ordered.location);
    if (json.status === 'ready') await session.post(ordered.json.finalize, { csr });
  });
  const { certificate } = await waitFor(session, ordered.location, ['valid']);
  return (await persistently(() => session.post(certificate))).text;
};

/** A request for a certificate, DER in base64url. */
const requestFor = async (name: string): Promise<string> => {
  const key = await crypto.createPrivateEcdsaKey();
  const [, csr] = await crypto.createCsr({ altNames: [name] }, key);
  return crypto.getPemBodyAsB64u(csr);
};

const newOrder = (session: AcmeSession, name: string): Promise<AcmeReply> =>
  session.post('newOrder', { identifiers: [{ type: 'dns', value: name }] });

describe('two gateways and two authorities', () => {
  test('serve an order whose requests go to all of them', async () => {
    // Each request has its own connection, so that both gateways and both authorities are used.
    const session = await open(1, false);
    for (const name of ['a.example.com', 'b.example.com', 'c.example.com']) {
      const chain = await finish(session, await newOrder(session, name), await requestFor(name));
      expect(chain).toContain('-----BEGIN CERTIFICATE-----');
    }
    await session.close();
    for (const gateway of cluster.processes.gateway)
      await expect.poll(() => gateway.log).toContain('/v1/pki/acme/');
  });

  test(`finish ${ORDERS} orders at a time while an authority is killed`, async () => {
    const sessions = await Promise.all(Array.from({ length: 8 }, () => open(8, true)));
    const sessionOf = (number: number): AcmeSession => sessions[number % 8] as AcmeSession;
    const names = Array.from({ length: ORDERS }, (_, number) => `n${number}.example.com`);
    const orders = await Promise.all(
      names.map((name, number) => newOrder(sessionOf(number), name)),
    );
    let finished = 0;
    let killed: Promise<void> | undefined;
    const chains = await Promise.all(
      orders.map(async (ordered, number) => {
        const csr = await requestFor(names[number] as string);
        const chain = await finish(sessionOf(number), ordered, csr);
        finished += 1;
        if (finished === 20) killed = cluster.processes.pki[0]?.kill();
        return chain;
      }),
    );
    await killed;
    expect(new Set(chains.map((chain) => new X509Certificate(chain).serialNumber)).size).toBe(
      ORDERS,
    );
    await Promise.all(sessions.map((session) => session.close()));
  });
});
