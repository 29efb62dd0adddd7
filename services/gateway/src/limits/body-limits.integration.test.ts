/** Limits of the memory that bodies may take in the gateway, by sender. */
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { API_TOKEN, startGateway, TOKEN } from '../../test/stub-services.ts';
import type { GatewayLimits } from './gateway-limits.ts';

type Gateway = Awaited<ReturnType<typeof startGateway>>;
const opened: (Gateway | Socket)[] = [];
const start = async (
  environment: Record<string, string> = {},
  limits: Partial<GatewayLimits> = {},
): Promise<Gateway> => {
  const gateway = await startGateway(environment, undefined, {}, { limits });
  opened.push(gateway);
  return gateway;
};
afterEach(async () => {
  for (const one of opened.splice(0).reverse())
    await ('stop' in one ? one.stop() : Promise.resolve(one.destroy()));
});

const KIB = 1024;
const SERVICE = `x-service-token: ${TOKEN}\r\n`;
const BEARER = `authorization: Bearer ${API_TOKEN}\r\n`;

interface Sent {
  readonly path: string;
  readonly headers?: string;
  /** In bytes. */
  readonly size: number;
  /** The last of these bytes is held back. */
  readonly isUnfinished?: boolean;
  readonly isChunked?: boolean;
  /** One of this machine's own. */
  readonly from?: string;
}

/** Sends a request; an unfinished one is in progress when this returns. */
const send = async (gateway: Gateway, sent: Sent) => {
  const { path, headers = '', size, isUnfinished, isChunked, from = '127.0.0.1' } = sent;
  const socket = connect({ port: gateway.port, host: '127.0.0.1', localAddress: from });
  opened.push(socket);
  let answer = '';
  socket.on('data', (data: Buffer) => {
    answer += data.toString('latin1');
  });
  // The gateway may close before it has read all.
  socket.on('error', () => undefined);
  const ended = new Promise((resolve) => {
    socket.once('close', resolve);
  });
  const body = Buffer.alloc(size, 'x');
  const length = isChunked ? 'transfer-encoding: chunked' : `content-length: ${size}`;
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n${headers}${length}\r\n\r\n`,
  );
  if (isChunked) socket.write(`${size.toString(16)}\r\n`);
  const first = isUnfinished ? body.subarray(0, -1) : body;
  await new Promise((resolve) => {
    socket.write(first, resolve);
  });
  return {
    socket,
    finish: () => socket.end(isChunked ? 'x\r\n0\r\n\r\n' : 'x'),
    /** The answer as text, once the connection has ended. */
    answered: async (): Promise<string> => {
      if (isChunked && !isUnfinished) socket.write('\r\n0\r\n\r\n');
      await ended;
      return answer;
    },
  };
};

const statusOf = async (gateway: Gateway, sent: Sent): Promise<number> =>
  Number(/^HTTP\/1\.1 (\d+)/.exec(await (await send(gateway, sent)).answered())?.[1]);

describe('a caller without a token', () => {
  test.for([
    ['announced', '/v1/sys/open/echo', {}],
    ['in chunks', '/v1/sys/open/echo', { isChunked: true }],
    ['on /api/v2', '/api/v2/echo', { isChunked: true }],
    ['on /api/v2, announced', '/api/v2/echo', {}],
  ] as const)('may send 256 KiB and no more: %s', async ([, path, how]) => {
    const gateway = await start();
    expect(await statusOf(gateway, { path, size: 256 * KIB, ...how })).toBe(200);
    expect(await statusOf(gateway, { path, size: 256 * KIB + 1, ...how })).toBe(413);
  });

  test.for([
    ['/v1/sys/open/echo', SERVICE],
    ['/api/v2/echo', BEARER],
  ] as const)('is distinguished from one with a token: %s', async ([path, headers]) => {
    const gateway = await start();
    expect(await statusOf(gateway, { path, headers, size: 257 * KIB })).toBe(200);
  });

  test('is limited when requests are audited, too', async () => {
    const gateway = await start();
    gateway.state.auditGeneration = 1;
    gateway.state.devices = [
      {
        path: 'file/',
        type: 'file',
        options: { file_path: 'discard' },
        salt: Buffer.alloc(32),
        accessor: '',
      },
    ];
    for (const path of ['/v1/sys/open/echo', '/v1/sys/echo', '/api/v2/echo'])
      expect(await statusOf(gateway, { path, size: 257 * KIB, isChunked: true })).toBe(413);
  });

  test('sends nothing to one of the gateway’s own routes', async () => {
    const gateway = await start();
    const headers = 'content-type: text/plain\r\n';
    expect(await statusOf(gateway, { path: '/healthz', headers, size: 2 * KIB })).toBe(404);
  });
});

describe('a delivery of a webhook', () => {
  const path = '/api/v2/webhooks/repositories/whk-1';

  test.for([{}, { isChunked: true }])(
    'may have 5 MiB and no more, whoever sends it; a larger one is counted: %o',
    async (how) => {
      const gateway = await start();
      expect(await statusOf(gateway, { path, size: 5 * 1024 * KIB, ...how })).toBe(200);
      for (const headers of ['', BEARER]) {
        const sent = { path, headers, size: 5 * 1024 * KIB + 1, ...how };
        expect(await statusOf(gateway, sent)).toBe(413);
      }
      const metrics = await fetch(`http://127.0.0.1:${gateway.port}/metrics`);
      expect(await metrics.text()).toMatch(/^keelson_oversized_deliveries_total 2$/m);
    },
  );
});

/** Limits of which few requests take all. */
const SMALL_BODIES = {
  KEELSON_REQUEST_BODY_LIMIT_BYTES: String(200 * KIB),
  KEELSON_WEBHOOK_BODY_LIMIT_BYTES: String(100 * KIB),
};
const SMALL: Partial<GatewayLimits> = {
  anonymousBodyBytes: 100 * KIB,
  clientBodiesBytes: 200 * KIB,
  bodiesBytes: 400 * KIB,
};
const OPEN = { path: '/v1/sys/open/echo', size: 100 * KIB };
const WITH_TOKEN = { path: '/v1/sys/echo', headers: SERVICE, size: 200 * KIB };

/** The gateway's own count of the bytes that it holds. */
const heldBytes = async (gateway: Gateway): Promise<number> => {
  const metrics = await fetch(`http://127.0.0.1:${gateway.port}/metrics`);
  return Number(/^keelson_http_request_bodies_bytes (\d+)$/m.exec(await metrics.text())?.[1]);
};

/** Begins a body and returns when all of it but the last byte has come. */
const hold = async (gateway: Gateway, sent: Sent) => {
  const before = await heldBytes(gateway);
  const begun = await send(gateway, { ...sent, isUnfinished: true });
  await expect.poll(() => heldBytes(gateway)).toBe(before + sent.size - 1);
  return begun;
};

describe('bodies in progress', () => {
  test('are limited for one address, and finished ones no longer count', async () => {
    const gateway = await start(SMALL_BODIES, SMALL);
    const first = await hold(gateway, WITH_TOKEN);
    const refused = await send(gateway, WITH_TOKEN);
    const answer = await refused.answered();
    expect(answer).toMatch(/^HTTP\/1\.1 503 [^]*retry-after: 1\r\n[^]*of one client address/i);
    expect(await statusOf(gateway, { ...WITH_TOKEN, from: '127.0.0.2' })).toBe(200);

    first.finish();
    expect(await first.answered()).toMatch(/^HTTP\/1\.1 200 /);
    const begun = await hold(gateway, WITH_TOKEN);
    begun.socket.destroy();
    await expect.poll(() => heldBytes(gateway)).toBe(0);
    expect(await statusOf(gateway, WITH_TOKEN)).toBe(200);
  });

  test('are limited in total', async () => {
    const gateway = await start(SMALL_BODIES, SMALL);
    for (const from of ['127.0.0.1', '127.0.0.2']) await hold(gateway, { ...WITH_TOKEN, from });
    const refused = await send(gateway, { ...WITH_TOKEN, from: '127.0.0.3' });
    expect(await refused.answered()).toMatch(/^HTTP\/1\.1 503 [^]*of all clients/);
  });

  test('of callers without a token leave capacity for those with one', async () => {
    const gateway = await start(SMALL_BODIES, SMALL);
    await hold(gateway, OPEN);
    const refused = await send(gateway, { ...OPEN, from: '127.0.0.2' });
    expect(await refused.answered()).toMatch(/^HTTP\/1\.1 503 [^]*without a token/);
    expect(await statusOf(gateway, { ...WITH_TOKEN, from: '127.0.0.2' })).toBe(200);
  });

  test('of webhooks count as those of callers without a token, whatever they send along', async () => {
    const gateway = await start(SMALL_BODIES, SMALL);
    const delivery = {
      path: '/api/v2/webhooks/repositories/whk-1',
      size: 100 * KIB,
      headers: BEARER,
    };
    const first = await hold(gateway, delivery);
    for (const sent of [OPEN, delivery]) {
      const refused = await send(gateway, { ...sent, from: '127.0.0.2' });
      expect(await refused.answered()).toMatch(/^HTTP\/1\.1 503 [^]*without a token/);
    }
    first.finish();
    expect(await first.answered()).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('have room for the largest body of each kind', async () => {
    const gateway = await start(SMALL_BODIES, {
      ...SMALL,
      clientBodiesBytes: KIB,
      bodiesBytes: KIB,
    });
    expect(await statusOf(gateway, WITH_TOKEN)).toBe(200);
    expect(await statusOf(gateway, OPEN)).toBe(200);
    await hold(gateway, WITH_TOKEN);
    const refused = await send(gateway, WITH_TOKEN);
    expect(await refused.answered()).toMatch(/^HTTP\/1\.1 503 [^]*of one client address/i);
  });
});
