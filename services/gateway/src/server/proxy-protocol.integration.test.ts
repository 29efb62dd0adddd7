/** Connections that begin with a PROXY protocol header: from a real HAProxy, and made by hand. */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { connect, isIPv6 } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { systemClock } from '@keelson/clock';
import { startTcpProxy } from '@keelson/testkit/high-availability';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, TOKEN } from '../../test/stub-services.ts';
import { openSelfIssuedCertificate } from '../compose.ts';

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');

const header = (
  command: number,
  transport: number,
  addresses: Buffer,
  size = addresses.length,
): Buffer =>
  Buffer.concat([SIGNATURE, Buffer.from([command, transport, size >> 8, size & 255]), addresses]);

const ipv4 = (address: string): Buffer => Buffer.from(address.split('.').map(Number));
const PORTS = Buffer.from([0x30, 0x39, 0x20, 0x08]);
const tcp4 = (client: string): Buffer =>
  header(0x21, 0x11, Buffer.concat([ipv4(client), ipv4('192.0.2.1'), PORTS]));

const requestBytes = (path = '/v1/pki/echo', method = 'GET'): Buffer =>
  Buffer.from(
    `${method} ${path} HTTP/1.1\r\nhost: h\r\nx-service-token: ${TOKEN}\r\nconnection: close\r\n\r\n`,
  );

type Gateway = Awaited<ReturnType<typeof startGateway>>;
let folder: string;
let certificate: Awaited<ReturnType<typeof openSelfIssuedCertificate>>;
let gateway: Gateway;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keelson-proxy-protocol-'));
  certificate = await openSelfIssuedCertificate({
    folder,
    names: ['127.0.0.1'],
    clock: systemClock,
  });
  gateway = await startGateway(
    { KEELSON_PROXY_PROTOCOL_FROM: '127.0.0.1', KEELSON_CLIENT_RATE_LIMIT: '5' },
    certificate,
  );
});
afterAll(async () => {
  await gateway.stop();
  certificate.close();
  rmSync(folder, { recursive: true });
});

/** Sends the pieces in one packet each and returns what comes back until the connection is closed. */
const converse = async (
  pieces: readonly Buffer[],
  { port = gateway.port, from = '127.0.0.1' } = {},
): Promise<string> => {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from, noDelay: true });
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1');
  });
  // The refusal of a header may reset the connection.
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => {
    socket.once('close', resolve);
  });
  for (const piece of pieces) {
    if (!socket.writable) break;
    await new Promise((resolve) => {
      socket.write(piece, resolve);
    });
    await new Promise(setImmediate);
  }
  await closed;
  return answer;
};

const addressIn = (answer: string): string =>
  (
    JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as {
      data: { head: { remoteAddress: string } };
    }
  ).data.head.remoteAddress;

describe('a header of a configured proxy', () => {
  const ipv6 = Buffer.concat([
    Buffer.from('20010db8000100000000000000000009', 'hex'),
    Buffer.from('20010db8000f00000000000000000001', 'hex'),
    PORTS,
  ]);
  const mapped = Buffer.concat([
    Buffer.from('00000000000000000000ffffcb007109', 'hex'),
    Buffer.alloc(16),
    PORTS,
  ]);
  const extensions = Buffer.from([0x04, 0x00, 0x02, 0x00, 0x00, 0xea, 0xff, 0xff]);
  test.for([
    ['an IPv4 client', tcp4('203.0.113.9'), '203.0.113.9'],
    ['an IPv6 client', header(0x21, 0x21, ipv6), '2001:db8:1::9'],
    ['an IPv4 client in its IPv6 form', header(0x21, 0x21, mapped), '203.0.113.9'],
    [
      'a client, with extensions',
      header(0x21, 0x11, Buffer.concat([tcp4('203.0.113.7').subarray(16), extensions])),
      '203.0.113.7',
    ],
    ['the proxy itself (LOCAL)', header(0x20, 0x00, Buffer.alloc(0)), '127.0.0.1'],
    [
      'the proxy itself, with addresses to ignore',
      header(0x20, 0x11, Buffer.alloc(12, 1)),
      '127.0.0.1',
    ],
    ['a client it does not know', header(0x21, 0x00, Buffer.alloc(7)), '127.0.0.1'],
  ] as const)('states %s', async ([, bytes, address]) => {
    expect(addressIn(await converse([Buffer.concat([bytes, requestBytes()])]))).toBe(address);
    expect(isIPv6(address) || address.includes('.')).toBe(true);
  });

  test('may arrive in any pieces, with any request behind it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'LIST', 'DELETE'),
        fc.array(fc.nat(120), { maxLength: 8 }),
        async (method, cuts) => {
          const bytes = Buffer.concat([tcp4('127.0.0.9'), requestBytes('/v1/pki/echo', method)]);
          const points = [...new Set(cuts)].sort((a, b) => a - b);
          const pieces = [0, ...points].map((from, at) => bytes.subarray(from, points[at]));
          const answer = await converse(pieces);
          expect(addressIn(answer)).toBe('127.0.0.9');
          expect(answer).toContain(`"method":"${method}"`);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('gives each client its own rate limit', async () => {
    const statuses = async (client: string): Promise<Set<string>> => {
      const answers = await Promise.all(
        Array.from({ length: 60 }, () => converse([tcp4(client), requestBytes()])),
      );
      return new Set(answers.map((answer) => answer.slice(9, 12)));
    };
    expect(await statuses('203.0.113.50')).toContain('429');
    expect(await converse([tcp4('203.0.113.51'), requestBytes()])).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('a hostile or broken header', () => {
  const addresses = tcp4('203.0.113.9').subarray(16);
  test.for([
    ['none at all', requestBytes()],
    ['version 1', Buffer.from('PROXY TCP4 203.0.113.9 192.0.2.1 1 2\r\n')],
    ['another signature', Buffer.concat([Buffer.from('\r\n\r\n\0\r\nQUIT\r'), Buffer.alloc(20)])],
    ['version 3', header(0x31, 0x11, addresses)],
    ['an unknown command', header(0x22, 0x11, addresses)],
    ['UDP', header(0x21, 0x12, addresses)],
    ['a Unix socket', header(0x21, 0x31, Buffer.alloc(216))],
    ['too few addresses', header(0x21, 0x11, addresses.subarray(0, 11))],
    ['an excessive size', header(0x21, 0x11, addresses, 65_535)],
    ['an excessive size for LOCAL', header(0x20, 0x00, Buffer.alloc(0), 2049)],
  ] as const)('(%s) closes the connection without an answer', async ([, bytes]) => {
    expect(await converse([bytes, requestBytes()])).toBe('');
    expect(gateway.lines.at(-1)).toContain('"proxy":"127.0.0.1"');
  });

  test('closes a connection that ends within it', async () => {
    for (const size of [1, 15, 16, 20]) {
      const socket = connect(gateway.port, '127.0.0.1');
      const closed = new Promise((resolve) => {
        socket.once('close', resolve);
      });
      socket.resume().end(tcp4('203.0.113.9').subarray(0, size));
      await closed;
      expect(socket.bytesRead).toBe(0);
    }
  });

  test('crashes nothing, whatever its bytes', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 64 }),
      fc
        .tuple(fc.nat(255), fc.nat(255), fc.nat(400), fc.uint8Array({ maxLength: 300 }))
        .map(([command, transport, size, rest]) =>
          header(command, transport, Buffer.from(rest), size),
        ),
    );
    await fc.assert(
      fc.asyncProperty(bytes, async (sent) => {
        const socket = connect(gateway.port, '127.0.0.1');
        socket.on('error', () => undefined);
        const closed = new Promise((resolve) => {
          socket.once('close', resolve);
        });
        socket.resume().end(Buffer.from(sent));
        await closed;
      }),
      { numRuns: 200 },
    );
    expect(await converse([tcp4('203.0.113.60'), requestBytes('/healthz')])).toContain(' 200 ');
  });

  test('is malformed HTTP if it comes from any other address', async () => {
    const answer = await converse([tcp4('203.0.113.9'), requestBytes()], { from: '127.0.0.2' });
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    const own = await converse([requestBytes()], { from: '127.0.0.2' });
    expect(addressIn(own)).toBe('127.0.0.2');
  });
});

test('a setting that is not an address is refused by its name', async () => {
  await expect(startGateway({ KEELSON_PROXY_PROTOCOL_FROM: 'lb.local' })).rejects.toThrow(
    'KEELSON_PROXY_PROTOCOL_FROM: invalid CIDR or IP address: "lb.local"',
  );
});

describe('behind HAProxy with send-proxy-v2', () => {
  const headers = { 'x-service-token': TOKEN };
  test('the client is seen over HTTP, HTTPS and HTTP/2, and health checks pass', async () => {
    const options = 'send-proxy-v2 check inter 100';
    await using plain = await startTcpProxy(`${new URL(gateway.http).host} ${options}`);
    await using secure = await startTcpProxy(`${new URL(gateway.https).host} ${options}`);
    const https = secure.port;
    const from = '127.0.0.3';

    expect(addressIn(await converse([requestBytes()], { port: plain.port, from }))).toBe(from);

    const tls = await new Promise<string>((resolve, reject) => {
      const sent = httpsRequest(
        `https://127.0.0.1:${https}/v1/pki/echo`,
        { headers, localAddress: from, rejectUnauthorized: false, agent: false },
        (response) => {
          let text = '\r\n\r\n';
          response.on('data', (chunk: Buffer) => {
            text += chunk.toString();
          });
          response.on('end', () => resolve(text));
        },
      );
      sent.on('error', reject).end();
    });
    expect(addressIn(tls)).toBe(from);

    const session = connectHttp2(`https://127.0.0.1:${https}`, {
      createConnection: () =>
        connectTls({
          host: '127.0.0.1',
          port: https,
          localAddress: from,
          rejectUnauthorized: false,
          ALPNProtocols: ['h2'],
        } as ConnectionOptions),
    });
    const stream = session.request({ ':path': '/v1/pki/echo', ...headers });
    let text = '\r\n\r\n';
    for await (const chunk of stream) text += String(chunk);
    session.close();
    expect(addressIn(text)).toBe(from);
  });
});
