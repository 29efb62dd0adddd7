/** Headers of every answer for browsers, and headers that every request needs. */
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { systemClock } from '@keelson/clock';
import { type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, TOKEN } from '../../test/stub-services.ts';
import { type CertificateSource, openSelfIssuedCertificate } from '../compose.ts';

type Gateway = Awaited<ReturnType<typeof startGateway>>;
let folder: TemporaryDirectory;
let tls: CertificateSource;
let gateway: Gateway;
beforeAll(async () => {
  folder = await temporaryDirectory();
  const names = ['localhost'];
  tls = await openSelfIssuedCertificate({ folder: folder.path, names, clock: systemClock });
  gateway = await startGateway({}, tls);
});
afterAll(async () => {
  await gateway.stop();
  tls.close();
  await folder[Symbol.asyncDispose]();
});

/** Every kind of answer: of services, refusals, the gateway's own, pages. */
const PATHS = [
  '/v1/pki/echo',
  '/v1/pki/gone',
  '/v1/nowhere/x',
  '/v1/%zz',
  '/api/v2/echo',
  '/api/v2/ping',
  '/api/v2/downloads/thing',
  '/.well-known/terraform.json',
  '/.well-known/openid-configuration',
  '/.well-known/jwks',
  '/healthz',
  '/readyz',
  '/metrics',
  '/openapi/pki.json',
  '/docs/pki',
  '/ui/',
  '/app/settings/tokens',
  '/elsewhere',
] as const;

test.for(PATHS)('browsers do not guess a type for the response of %s', async (path) => {
  const { headers } = await fetch(gateway.http + path, { headers: { 'x-service-token': TOKEN } });
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.has('strict-transport-security')).toBe(false);
});

const overHttps = (to: Gateway, path: string, host: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const sent = httpsRequest(
      to.https + path,
      { headers: { host, 'x-service-token': TOKEN }, rejectUnauthorized: false, agent: false },
      (response) => {
        response.resume();
        resolve(response.headers['strict-transport-security']);
      },
    );
    sent.on('error', reject);
    sent.end();
  });

describe('Strict-Transport-Security', () => {
  test.for(PATHS)('is sent over HTTPS: %s', async (path) => {
    expect(await overHttps(gateway, path, 'keelson.example:8443')).toBe('max-age=31536000');
  });

  test.for(['localhost:8443', 'a.localhost', '127.0.0.1:8443', '[::1]:8443'])(
    'is not said to %s, where other programs answer, too',
    async (host) => expect(await overHttps(gateway, '/v1/pki/echo', host)).toBeUndefined(),
  );

  test('is sent as configured, or not at all', async () => {
    for (const [seconds, header] of [
      ['60', 'max-age=60'],
      ['0', undefined],
    ] as const) {
      const other = await startGateway({ KEELSON_HSTS_SECONDS: seconds }, tls);
      for (const path of ['/v1/pki/echo', '/healthz'])
        expect(await overHttps(other, path, 'keelson.example')).toBe(header);
      await other.stop();
    }
  });
});

const statusOf = (to: Gateway, head: string): Promise<number> =>
  new Promise((resolve) => {
    const socket = connect({ port: to.port, host: '127.0.0.1' });
    let answer = '';
    socket.on('data', (data: Buffer) => {
      answer += data.toString('latin1');
    });
    socket.on('close', () => resolve(Number(answer.split(' ', 2)[1])));
    socket.write(`${head}x-service-token: ${TOKEN}\r\nconnection: close\r\n\r\n`);
  });

describe('a request', () => {
  test.for([
    ['two hosts', 'HTTP/1.1\r\nHost: a.example\r\nhost: b.example\r\n', 400],
    ['one host twice', 'HTTP/1.1\r\nhost: a.example\r\nHOST: a.example\r\n', 400],
    ['no host', 'HTTP/1.1\r\n', 400],
    ['what is no host', 'HTTP/1.1\r\nhost: a/b\r\n', 400],
    ['no host in HTTP/1.0', 'HTTP/1.0\r\n', 200],
    ['one host', 'HTTP/1.1\r\nhost: a.example\r\n', 200],
  ] as const)('with %s', async ([, head, status]) => {
    const named = await startGateway({ KEELSON_PUBLIC_URL: 'https://keelson.example' });
    for (const path of ['/v1/pki/echo', '/api/v2/echo', '/healthz'])
      for (const to of [gateway, named])
        expect([path, await statusOf(to, `GET ${path} ${head}`)]).toEqual([path, status]);
    await named.stop();
  });
});
