/** Limits of the requests in progress: of one client address, of all, and without a token on one connection. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { systemClock } from '@keelson/clock';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, TOKEN } from '../../test/stub-services.ts';
import { openSelfIssuedCertificate } from '../tls/self-issued-certificate.ts';

type Gateway = Awaited<ReturnType<typeof startGateway>>;

const folder = mkdtempSync(join(tmpdir(), 'keelson-requests-'));
let certificate: Awaited<ReturnType<typeof openSelfIssuedCertificate>>;
beforeAll(async () => {
  certificate = await openSelfIssuedCertificate({
    folder,
    names: ['127.0.0.1'],
    clock: systemClock,
  });
});
afterAll(() => {
  certificate.close();
  rmSync(folder, { recursive: true });
});
const closing: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const start = async (environment: Record<string, string>): Promise<Gateway> => {
  const gateway = await startGateway(environment, certificate);
  closing.push(() => gateway.stop());
  return gateway;
};

const gauge = async (gateway: Gateway, name: string): Promise<number> => {
  const metrics = await (await fetch(`${gateway.http}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(metrics)?.[1]);
};
const underWay = (gateway: Gateway) => gauge(gateway, 'keelson_http_requests_under_way');
const heldBytes = (gateway: Gateway) => gauge(gateway, 'keelson_http_request_bodies_bytes');

const AUTHENTICATED = { 'x-service-token': TOKEN };

/** A connection of HTTP/2 from one of this machine's own addresses. */
const openSession = (gateway: Gateway, from = '127.0.0.1'): ClientHttp2Session => {
  const { port, hostname } = new URL(gateway.https);
  const socket = connectTls({
    socket: connectTcp({ port: Number(port), host: hostname, localAddress: from }),
    rejectUnauthorized: false,
    ALPNProtocols: ['h2'],
  });
  const session = connect(gateway.https, { createConnection: () => socket });
  session.on('error', () => undefined);
  closing.push(() => session.destroy());
  return session;
};

/** A request whose body is begun and not completed. */
const begin = (
  session: ClientHttp2Session,
  path: string,
  headers: Record<string, string> = {},
): ClientHttp2Stream => {
  const stream = session.request({ ':method': 'POST', ':path': path, ...headers });
  stream.on('error', () => undefined);
  stream.write('x');
  return stream;
};

const answerOf = async (stream: ClientHttp2Stream) => {
  const [headers] = (await once(stream, 'response')) as [Record<string, string>];
  let text = '';
  for await (const piece of stream.setEncoding('utf8')) text += String(piece);
  return { status: Number(headers[':status']), retryAfter: headers['retry-after'], text };
};

/** A request over HTTP/1.1 that is not completed. */
const beginPlain = (gateway: Gateway, head: string, from: string): Socket => {
  const socket = connectTcp({ port: gateway.port, host: '127.0.0.1', localAddress: from });
  socket.on('error', () => undefined);
  closing.push(() => void socket.destroy());
  socket.write(`${head}\r\nhost: h\r\nx-service-token: ${TOKEN}\r\n\r\n`);
  return socket;
};

const LIMIT = 4;
const REFUSED = {
  status: 503,
  retryAfter: '1',
  text: expect.stringMatching(/the requests in progress of one client address exceed 4; try again/),
};

describe('requests in progress of one client address', () => {
  test('count together over both versions and as live streams, and finished ones no longer', async () => {
    const gateway = await start({ KEELSON_CLIENT_REQUESTS_UNDER_WAY: String(LIMIT) });
    const session = openSession(gateway);
    const first = begin(session, '/v1/pki/echo', AUTHENTICATED);
    begin(session, '/api/v2/echo', AUTHENTICATED);
    beginPlain(gateway, 'POST /v1/pki/echo HTTP/1.1\r\ncontent-length: 2', '127.0.0.1');
    const live = encodeURIComponent('/v1/sys/page');
    beginPlain(gateway, `GET /live?watch=${live} HTTP/1.1`, '127.0.0.1');
    await expect.poll(() => underWay(gateway)).toBe(LIMIT);

    const path = '/v1/pki/echo';
    expect(await answerOf(begin(session, path, AUTHENTICATED))).toEqual(REFUSED);
    const plain = await fetch(gateway.http + path, { headers: AUTHENTICATED });
    expect([plain.status, plain.headers.get('retry-after')]).toEqual([503, '1']);
    await plain.text();
    const api = await fetch(`${gateway.http}/api/v2/echo`);
    expect([api.status, await api.text()]).toEqual([
      503,
      expect.stringContaining('"detail":"the requests in progress of one client address exceed 4'),
    ]);
    const elsewhere = openSession(gateway, '127.0.0.2').request({
      ':path': path,
      ...AUTHENTICATED,
    });
    expect((await answerOf(elsewhere)).status).toBe(200);
    expect((await fetch(`${gateway.http}/healthz`)).status).toBe(200);

    first.end();
    expect((await answerOf(first)).status).toBe(200);
    const next = session.request({ ':path': path, ...AUTHENTICATED });
    expect((await answerOf(next)).status).toBe(200);
  });
});

test('requests in progress of all clients are limited', async () => {
  const gateway = await start({ KEELSON_REQUESTS_UNDER_WAY: '16' });
  for (let from = 1; from <= 16; from++)
    begin(openSession(gateway, `127.0.0.${from}`), '/v1/pki/echo', AUTHENTICATED);
  await expect.poll(() => underWay(gateway)).toBe(16);
  const refused = begin(openSession(gateway, '127.0.0.17'), '/v1/pki/echo', AUTHENTICATED);
  expect((await answerOf(refused)).text).toContain('of all clients exceed 16; try again');
});

test('a connection without a token has 16 bodies under way, and as many more as have a token', async () => {
  const gateway = await start({});
  const session = openSession(gateway);
  const open = '/v1/sys/open/echo';
  const streams = Array.from({ length: 16 }, () => begin(session, open));
  await expect.poll(() => heldBytes(gateway)).toBe(16);
  for (const path of [open, '/api/v2/echo']) {
    const refused = await answerOf(begin(session, path));
    expect([refused.status, refused.retryAfter]).toEqual([503, '1']);
    expect(refused.text).toContain('a body on a connection without a token exceed 16');
  }
  begin(session, open, AUTHENTICATED);
  begin(openSession(gateway), open);
  await expect.poll(() => heldBytes(gateway)).toBe(18);
  streams[0]?.end();
  expect((await answerOf(streams[0] as ClientHttp2Stream)).status).toBe(200);
  begin(session, open);
  await expect.poll(() => heldBytes(gateway)).toBe(18);
});
