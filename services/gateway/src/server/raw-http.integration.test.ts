import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startGateway, TOKEN } from '../../test/stub-services.ts';

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

/**
 * Sends bytes and the end of the stream; returns the answer once the connection is closed. A server that
 * closes with bytes unread resets the connection, which ends it too.
 */
const send = async (bytes: Buffer): Promise<string> => {
  const socket = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true });
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1');
  });
  socket.on('error', () => undefined);
  socket.on('end', () => socket.end());
  const closed = new Promise((resolve) => {
    socket.on('close', resolve);
  });
  socket.end(bytes);
  await closed;
  return answer;
};

const line = fc.oneof(
  fc.constantFrom(
    'GET /v1/pki/echo HTTP/1.1',
    'LIST /v1/sys/echo HTTP/1.1',
    'LIST  /v1/ HTTP/1.1',
    'LIST /v1/pki/echo HTTP/9.9',
    'LIST',
    'POST /api/v2/echo HTTP/1.1',
    'OPTIONS * HTTP/1.1',
    'CONNECT h:1 HTTP/1.1',
    'GET http://h/v1/pki/echo HTTP/1.1',
    'GET /v1/%00 HTTP/1.1',
    'GET //v1//.. HTTP/1.0',
    'PRI * HTTP/2.0',
    'GET /v1/pki/echo HTTP/2.0',
    'host: h',
    'host: a, b',
    'content-length: 5',
    'content-length: 5, 6',
    'transfer-encoding: chunked',
    'transfer-encoding: chunked, identity',
    'expect: 100-continue',
    'upgrade: h2c',
    'connection: upgrade',
    `x-service-token: ${TOKEN}`,
    'x-vault-wrap-ttl: -1',
    ' folded',
    '',
    '',
    '5',
    'hello',
    '0',
  ),
  fc.string({ maxLength: 40 }),
  fc.constant('x: '.padEnd(40_000, 'y')),
);

describe('an incomplete body', () => {
  test.for(['POST', 'LIST'])('of %s is refused instead of waited for', async (method) => {
    const head = `${method} /v1/pki/echo HTTP/1.1\r\nhost: h\r\nx-service-token: ${TOKEN}\r\n`;
    const answer = await send(Buffer.from(`${head}content-length: 5\r\n\r\nhel`));
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });
});

test('a body larger than its service accepts ends the connection, even if the client keeps it open', async () => {
  const brief = await startGateway({ KEELSON_KEEP_ALIVE_SECONDS: '1' });
  onTestFinished(() => brief.stop());
  const socket = connect({ port: brief.port, host: '127.0.0.1', allowHalfOpen: true });
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1');
  });
  const ended = new Promise<void>((resolve) => {
    socket.on('end', resolve);
    // A reset: bytes were still on their way.
    socket.on('error', () => resolve());
  });
  const length = 1_000_000;
  const head = `POST /v1/pki/small HTTP/1.1\r\nhost: h\r\nx-service-token: ${TOKEN}\r\n`;
  socket.write(`${head}content-length: ${length}\r\n\r\n${'x'.repeat(length)}`);
  await ended;
  socket.destroy();
  expect(answer).toMatch(/^(HTTP\/1\.1 413 |$)/);
});

test('a request that claims to be HTTP/2 in the form of HTTP/1.1 is answered like one of HTTP/1.1', async () => {
  const request = `GET /v1/pki/echo HTTP/2.0\r\nhost: h\r\nx-service-token: ${TOKEN}\r\n\r\n`;
  expect(await send(Buffer.from(request))).toMatch(/^HTTP\/1\.1 200 /);
});

/** Shorter than an idle connection is kept. */
const CLOSED_WITHIN_MS = 60_000;

test('a LIST behind another request ends with its response when the client has closed its side', {
  timeout: CLOSED_WITHIN_MS,
}, async () => {
  const request = (method: string): string =>
    `${method} /v1/pki/echo HTTP/1.1\r\nhost: h\r\nx-service-token: ${TOKEN}\r\n\r\n`;
  const answers = await send(Buffer.from(request('GET') + request('LIST')));
  expect(answers.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
});

test.for([
  [
    '/api/v2/organizations',
    'application/vnd.api+json',
    { status: '400', title: 'bad request', detail: 'the request method is not known' },
  ],
  ['/v1/sys/health', 'application/json', 'the request method is not known'],
] as const)(
  'an unknown method is refused with the document of %s',
  async ([path, mediaType, refusal]) => {
    const answer = await send(Buffer.from(`FOO ${path} HTTP/1.1\r\nhost: h\r\n\r\n`));
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain(`Content-Type: ${mediaType}\r\n`);
    const { errors } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as {
      errors: unknown[];
    };
    expect(errors).toEqual([refusal]);
  },
);

describe('a body for one of the gateway’s own routes', () => {
  test.for([
    ['of no media type', 'application/x\xd8/y', '[1]'],
    ['of broken JSON', 'application/json', '{"a":'],
    ['of an invalid charset', 'application/json; charset=\xff', '\0\0'],
  ])('%s is not read: the path accepts none, and the connection ends', async ([, type, body]) => {
    const head = `POST /healthz HTTP/1.1\r\nhost: h\r\ncontent-type: ${type}`;
    const bytes = `${head}\r\ncontent-length: ${body?.length}\r\n\r\n${body}`;
    const answer = await send(Buffer.from(bytes, 'latin1'));
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(answer).toContain('\r\nconnection: close\r\n');
  });
});

describe('arbitrary bytes', () => {
  test('never crash the gateway, make it answer 5xx, or leave a connection hanging', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(line, fc.constantFrom('\r\n', '\r\n', '\r\n', '\n')), { maxLength: 14 }),
        async (lines) => {
          const answer = await send(Buffer.from(lines.flat().join(''), 'latin1'));
          expect(answer).not.toMatch(/HTTP\/1\.1 5\d\d/);
        },
      ),
      { numRuns: 400 },
    );
    expect((await fetch(`${gateway.http}/healthz`)).status).toBe(200);
  });
});
