/** Traces as a collector receives them over OTLP/HTTP: from every process of a cluster, and across clusters. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { startNats, startPostgres, startRedis } from '@keelson/testkit';
import { ofEachService, startDistributed } from '@keelson/testkit/distributed-cluster';
import { attach, generateRoot, startCluster } from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const WITHIN_MS = 180_000;

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}

interface Exported {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly name: string;
        readonly attributes: readonly Attribute[];
        readonly status: { readonly code?: number };
      }[];
    }[];
  }[];
}

let collector: Server;
let endpoint: string;
const received: string[] = [];
beforeAll(async () => {
  collector = createServer((request, response) => {
    void text(request).then((body) => {
      received.push(body);
      response.setHeader('content-type', 'application/json').end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => collector.close(resolve)));

const valuesOf = (attributes: readonly Attribute[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]),
  );

/** The spans of a trace, each with the names of those above it, nearest first. */
const spansOf = (traceId: string) => {
  const spans = received
    .flatMap((one) => (JSON.parse(one) as Exported).resourceSpans)
    .flatMap(({ resource, scopeSpans }) =>
      scopeSpans
        .flatMap((scope) => scope.spans)
        .map((span) => ({
          ...span,
          service: valuesOf(resource.attributes)['service.name'],
          attributes: valuesOf(span.attributes),
        })),
    )
    .filter((span) => span.traceId === traceId);
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  return spans.map((span) => {
    const above: string[] = [];
    for (let up = byId.get(span.parentSpanId ?? ''); up !== undefined; )
      up = (above.push(up.name), byId.get(up.parentSpanId ?? ''));
    return { ...span, above };
  });
};

const traced = async (
  url: string,
  token: string,
  path: string,
  body?: object,
): Promise<{ readonly traceId: string; readonly status: number }> => {
  const traceId = randomBytes(16).toString('hex');
  const { status } = await fetch(`${url}/v1/${path}`, {
    headers: {
      'x-service-token': token,
      traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01`,
    },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  });
  return { traceId, status };
};

const ROLE = { allow_any_name: true, key_type: 'ec' };

describe('the trace of a request', { timeout: WITHIN_MS }, () => {
  test('leads over gateway, services and database of a distributed cluster', async () => {
    await using postgres = await startPostgres();
    await using redis = await startRedis();
    const settings = { OTLP_ENDPOINT: endpoint };
    const cluster = await startDistributed({
      postgres,
      redisUrl: redis.url,
      name: 'traced',
      settings: { gateway: settings, ...ofEachService(settings) },
    });
    const [url = ''] = cluster.urls;
    await cluster.v1('POST', 'sys/mounts/pki', { type: 'pki' });
    const written = await traced(url, cluster.token, 'pki/roles/quiet-name', ROLE);
    const missing = await traced(url, cluster.token, 'pki/roles/other-name');
    // A stop exports what a process still holds.
    for (const processes of Object.values(cluster.processes).reverse())
      for (const one of processes) await one.stop();
    await cluster.stop();

    const spans = spansOf(written.traceId);
    expect(new Set(spans.map(({ service }) => service))).toEqual(
      new Set(['keelson-gateway', 'keelson-sys', 'keelson-pki']),
    );
    expect(spans.find(({ name }) => name === 'POST v1/pki')?.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.response.status_code': written.status,
    });
    expect(spans.find(({ name }) => name === 'edge POST')).toMatchObject({
      service: 'keelson-pki',
      attributes: { 'http.route': '/v1/{mount}/roles/:name' },
      above: ['POST v1/pki'],
    });
    expect(spans.find(({ name }) => name === 'database commit')).toMatchObject({
      service: 'keelson-pki',
      above: ['edge POST', 'POST v1/pki'],
    });
    expect(spans.some(({ attributes }) => attributes['db.system.name'] === 'postgresql')).toBe(
      true,
    );

    const refused = spansOf(missing.traceId).find(({ name }) => name === 'GET v1/pki');
    expect(refused?.attributes['http.response.status_code']).toBe(404);
    // A refusal is not a fault.
    expect(refused?.status.code ?? 0).toBe(0);
    for (const secret of [cluster.token, 'quiet-name', 'other-name'])
      expect(received.join('')).not.toContain(secret);
  });

  test('leads over the bus to another cluster', async () => {
    await using nats = await startNats({ jetstream: true });
    const env = { KEELSON_OTLP_ENDPOINT: endpoint };
    const [primary, secondary] = await Promise.all([
      startCluster(nats.url, env),
      startCluster(nats.url, env),
    ]);
    await primary.v1('POST', 'sys/mounts/pki', { type: 'pki' });
    expect(
      (await primary.v1('POST', 'sys/replication/performance/primary/enable', {})).status,
    ).toBe(200);
    await attach('performance', primary, secondary, 'traced');
    const { traceId, status } = await traced(
      secondary.process().http,
      await generateRoot(secondary, primary.shares),
      'pki/roles/forwarded',
      ROLE,
    );
    await secondary.stop();
    await primary.stop();
    expect(status).toBeLessThan(300);
    const commit = spansOf(traceId).find(
      ({ name, above }) => name === 'database commit' && above.includes('nats request'),
    );
    expect(commit?.above.at(-1)).toBe('POST v1/pki');
  });
});
