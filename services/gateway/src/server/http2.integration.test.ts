/** HTTP/2 on the TLS port: by curl, by node:http2, and by clients that abuse it. */
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import {
  type ClientHttp2Session,
  connect,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { type AddressInfo, connect as connectTcp, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { systemClock } from '@keelson/clock';
import { createEdgeService, edgeResponse, type Route } from '@keelson/edge';
import { createSecretsErrorRenderer } from '@keelson/secrets-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_TOKEN, startGateway, TOKEN } from '../../test/stub-services.ts';
import { openSelfIssuedCertificate } from '../compose.ts';

const run = promisify(execFile);

type Gateway = Awaited<ReturnType<typeof startGateway>>;
let folder: string;
let certificate: Awaited<ReturnType<typeof openSelfIssuedCertificate>>;
let gateway: Gateway;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keelson-http2-'));
  certificate = await openSelfIssuedCertificate({
    folder,
    names: ['127.0.0.1'],
    clock: systemClock,
  });
  gateway = await startGateway({}, certificate);
});
afterAll(async () => {
  await gateway.stop();
  certificate.close();
  rmSync(folder, { recursive: true });
});

const tlsSocket = (to: Gateway, protocols: string[]): TLSSocket =>
  connectTls({
    host: '127.0.0.1',
    port: Number(new URL(to.https).port),
    rejectUnauthorized: false,
    ALPNProtocols: protocols,
  } as ConnectionOptions);

const open = (to = gateway, socket = tlsSocket(to, ['h2'])): ClientHttp2Session => {
  const session = connect(to.https, { createConnection: () => socket });
  // Sessions that the gateway ends on purpose.
  session.on('error', () => undefined);
  return session;
};

/** Types of frames (RFC 9113 §6). */
const [DATA, HEADERS, RST_STREAM, SETTINGS, PING] = [0, 1, 3, 4, 6];

const frameOf = (type: number, flags: number, streamId: number, payload: Buffer): Buffer => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
};

const framesFrom = async function* (socket: TLSSocket) {
  let held = Buffer.alloc(0);
  for await (const piece of socket as AsyncIterable<Buffer>) {
    held = Buffer.concat([held, piece]);
    while (held.length >= 9 && held.length >= 9 + held.readUIntBE(0, 3)) {
      yield { type: held.readUInt8(3), flags: held.readUInt8(4), streamId: held.readUInt32BE(5) };
      held = held.subarray(9 + held.readUIntBE(0, 3));
    }
  }
};

interface Answer {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const ask = async (
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: Buffer,
): Promise<Answer> => {
  const stream = session.request(
    { 'x-service-token': TOKEN, authorization: `Bearer ${API_TOKEN}`, ...headers },
    { endStream: body === undefined },
  );
  const answered = once(stream, 'response') as Promise<[IncomingHttpHeaders]>;
  if (body !== undefined) stream.end(body);
  let text = '';
  stream.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  });
  const ended = once(stream, 'close');
  const [answer] = await answered;
  await ended;
  return { headers: answer, text };
};

const statusOf = async (...given: Parameters<typeof ask>): Promise<number> =>
  Number((await ask(...given)).headers[':status']);

describe('HTTP/2', () => {
  test('is chosen by curl, which gets the same answer over HTTP/1.1', async () => {
    const format = '%{http_version} %{http_code}';
    for (const [option, version] of [
      ['--http2', '2'],
      ['--http1.1', '1.1'],
    ] as const)
      for (const method of ['GET', 'LIST']) {
        const { stdout } = await run('curl', [
          '-sk',
          option,
          `-X${method}`,
          `-w${format}`,
          `-HX-Service-Token: ${TOKEN}`,
          `${gateway.https}/v1/pki/echo`,
        ]);
        expect(stdout).toContain(`"method":"${method}"`);
        expect(stdout).toMatch(new RegExp(`}${version} 200$`));
      }
  });

  test.for(['GET', 'LIST', 'POST', 'PUT', 'PATCH', 'DELETE'])(
    '%s is served on every surface',
    async (method) => {
      const session = open();
      for (const path of ['/v1/pki/echo', '/api/v2/echo']) {
        const body = method === 'POST' || method === 'PUT' ? Buffer.alloc(300_000, 'x') : undefined;
        if (path.startsWith('/api') && method === 'LIST') continue;
        const { headers, text } = await ask(session, { ':method': method, ':path': path }, body);
        expect(headers[':status']).toBe(200);
        const { data } = JSON.parse(text) as {
          data: { method: string; byteLength: number; head: { baseUrl: string } };
        };
        expect(data.method).toBe(method);
        expect(data.byteLength).toBe(body?.length ?? 0);
        expect(data.head.baseUrl).toBe(gateway.https);
      }
      session.close();
    },
  );

  test('serves the pages, probes, errors and streamed answers', async () => {
    const session = open();
    const statuses = await Promise.all(
      [
        '/healthz',
        '/metrics',
        '/openapi/pki.json',
        '/nowhere',
        '/v1/pki/gone',
        '/v1/pki/break',
      ].map((path) => statusOf(session, { ':path': path })),
    );
    expect(statuses).toEqual([200, 200, 200, 404, 404, 500]);
    const { headers, text } = await ask(session, { ':path': '/v1/pki/big' });
    expect([headers[':status'], text.length]).toEqual([200, 2_000_000]);
    const head = await ask(session, { ':method': 'HEAD', ':path': '/healthz' });
    expect([head.headers[':status'], head.text]).toEqual([200, '']);
    expect(headers).not.toHaveProperty('connection');
    session.close();
  });

  test('passes the certificate of a client on, also after the server has renewed its own', async () => {
    const client = await openSelfIssuedCertificate({
      folder: join(folder, 'client'),
      names: ['device'],
      clock: systemClock,
    });
    client.close();
    let renew: (renewed: { cert: string; key: string }) => void = () => undefined;
    const asking = await startGateway(
      { KEELSON_REQUEST_CLIENT_CERTIFICATES: 'true' },
      {
        ...certificate,
        onRenewal: (listener) => {
          renew = listener;
          return () => undefined;
        },
      },
    );
    const { cert, key } = client.current();
    const presented = `:${new X509Certificate(cert).raw.toString('base64')}:`;
    for (const server of [certificate.current(), client.current()]) {
      renew(server);
      const session = connect(asking.https, { rejectUnauthorized: false, cert, key });
      const { text } = await ask(session, { ':path': '/v1/pki/mounted/echo' });
      const { data } = JSON.parse(text) as {
        data: { head: { headers: Record<string, string> } };
      };
      expect(data.head.headers['client-cert']).toBe(presented);
      expect((session.socket as TLSSocket).getPeerX509Certificate()?.fingerprint256).toBe(
        new X509Certificate(server.cert).fingerprint256,
      );
      session.close();
    }
    await asking.stop();
  });

  test('an ambiguous host is refused', async () => {
    const session = open();
    expect(
      await statusOf(session, { ':path': '/v1/pki/echo', ':authority': 'one', host: 'two' }),
    ).toBe(400);
    expect(
      await statusOf(session, { ':path': '/v1/pki/echo', host: new URL(gateway.https).host }),
    ).toBe(200);
    session.close();
  });

  test('a client without ALPN gets HTTP/1.1', async () => {
    const socket = tlsSocket(gateway, []);
    let answer = '';
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString();
    });
    socket.write('GET /healthz HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n');
    await once(socket, 'close');
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('limits of HTTP/2', () => {
  test('a body over its limit is refused, and its stream ends while the client still sends', async () => {
    const session = open();
    const headers = { ':method': 'POST', ':path': '/v1/pki/open/echo' };
    const stream = session.request(headers, { endStream: false });
    stream.on('error', () => undefined);
    stream.write(Buffer.alloc(300_000));
    const [answer] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    expect(answer[':status']).toBe(413);
    stream.resume();
    await once(stream, 'end');
    expect(await statusOf(session, { ':path': '/v1/pki/echo' })).toBe(200);
    session.close();
  });

  /** A gateway whose services answer POST by `handle`. */
  const startWith = (handle: Route['handle']): Promise<Gateway> => {
    const operation = () => ({ summary: 'of this test' });
    const serve = (service: string, pathPrefix: string, path: string) =>
      createEdgeService({
        service,
        version: '1',
        pathPrefix,
        routes: [{ method: 'POST', path, operation, handle }],
        renderError: createSecretsErrorRenderer(() => undefined),
      });
    return startGateway({}, certificate, {
      pki: serve('pki', '/v1/{mount}', '/echo'),
      workspace: serve('workspace', '/api/v2', '/uploads/echo'),
    });
  };
  const post = { 'x-service-token': TOKEN, ':method': 'POST', ':path': '/v1/pki/echo' };

  /** Begins a body that is never completed; a reset by node:http2 would end it first. */
  const begin = (to: Gateway, headers: OutgoingHttpHeaders): TLSSocket => {
    const socket = tlsSocket(to, ['h2']);
    const stream = open(to, socket).request(headers, { endStream: false });
    stream.on('error', () => undefined);
    stream.write(Buffer.alloc(100));
    return socket;
  };

  test.for([false, true])(
    'an upload that its client breaks off reaches no service as a whole (before it is read: %s)',
    async (isUnread) => {
      const outcome = Promise.withResolvers<unknown>();
      const begun = Promise.withResolvers<void>();
      const receiving = await startWith(async ({ body, signal }) => {
        if (isUnread) {
          begun.resolve();
          await once(signal, 'abort');
        }
        try {
          for await (const _ of body.chunks()) begun.resolve();
          outcome.resolve('whole');
        } catch (error) {
          outcome.resolve(error);
        }
        return edgeResponse(204, {}, new Uint8Array());
      });
      const socket = begin(receiving, { ...post, ':path': '/api/v2/uploads/echo' });
      await begun.promise;
      socket.destroy();
      expect(await outcome.promise).toBeInstanceOf(Error);
      await receiving.stop();
    },
  );

  test('a request whose body its client breaks off reaches no service', async () => {
    let calls = 0;
    const receiving = await startWith(() => {
      calls += 1;
      return Promise.resolve(edgeResponse(204));
    });
    const held = async (): Promise<string | undefined> =>
      /^keelson_http_request_bodies_bytes (\d+)$/m.exec(
        await (await fetch(`${receiving.http}/metrics`)).text(),
      )?.[1];
    const socket = begin(receiving, post);
    await expect.poll(held).toBe('100');
    socket.destroy();
    await expect.poll(held).toBe('0');
    expect(calls).toBe(0);
    const session = open(receiving);
    expect(await statusOf(session, post, Buffer.alloc(100))).toBe(204);
    expect(calls).toBe(1);
    session.close();
    await receiving.stop();
  });

  test.for([
    ['GET', '/.well-known/terraform.json', true, ['end']],
    // Its body is never sent.
    ['POST', '/nowhere', false, ['end', 'reset']],
  ] as const)(
    'the answer to a %s of %s ends before its stream is reset',
    async ([method, path, hasEnded, expected]) => {
      const socket = tlsSocket(gateway, ['h2']);
      const text = (name: number, value: string) =>
        Buffer.concat([Buffer.from([name, value.length]), Buffer.from(value)]);
      // Entries of the static table of HPACK: the method, the scheme https, and names of the path and authority.
      const head = [Buffer.from([method === 'GET' ? 0x82 : 0x83, 0x87])];
      head.push(text(4, path), text(1, '127.0.0.1'));
      socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
      socket.write(frameOf(SETTINGS, 0, 0, Buffer.alloc(0)));
      socket.write(frameOf(HEADERS, hasEnded ? 0x5 : 0x4, 1, Buffer.concat(head)));
      const seen: string[] = [];
      for await (const { type, flags, streamId } of framesFrom(socket)) {
        const isEnd =
          streamId === 1 && (type === DATA || type === HEADERS) && (flags & 0x1) === 0x1;
        if (isEnd) {
          seen.push('end');
          // Frames that the gateway has still to send on the stream come before its answer to this.
          socket.write(frameOf(PING, 0, 0, Buffer.alloc(8)));
        }
        if (type === RST_STREAM) seen.push('reset');
        if (seen.length >= expected.length && (type === PING || type === RST_STREAM)) break;
      }
      socket.destroy();
      expect(seen).toEqual(expected);
    },
  );

  test('an answer that breaks off is not taken for complete', async () => {
    const breaking = await startWith(() =>
      Promise.resolve(
        edgeResponse(
          200,
          {},
          (async function* () {
            yield Buffer.alloc(1000);
            await new Promise(setImmediate);
            throw new Error('the source has failed');
          })(),
        ),
      ),
    );
    const session = open(breaking);
    const stream = session.request(post, { endStream: true });
    const [error] = (await once(stream.resume(), 'error')) as [Error];
    expect(error.message).toContain('NGHTTP2_INTERNAL_ERROR');
    session.destroy();
    await breaking.stop();
  });

  test('a head over 32 KiB is refused, also before the client has seen the limit', async () => {
    const headers = { ':path': '/healthz', 'x-large': 'x'.repeat(40_000) };
    const early = open();
    expect(await statusOf(early, headers)).toBe(431);
    const refused = early.request(headers);
    const [error] = (await once(refused, 'error')) as [Error];
    expect(error.message).toContain('ENHANCE_YOUR_CALM');
    early.destroy();
  });

  test('a client that resets its requests over and over is disconnected', async () => {
    const attacked = await startGateway({}, certificate);
    // The session reads its socket past any listener, so the end is seen from between.
    const ended = Promise.withResolvers<void>();
    const between = createServer((near) => {
      const far = connectTcp(Number(new URL(attacked.https).port), '127.0.0.1');
      far.on('error', () => undefined).once('close', () => ended.resolve());
      near
        .on('error', () => undefined)
        .pipe(far)
        .pipe(near);
    }).listen(0, '127.0.0.1');
    await once(between, 'listening');
    const { port } = between.address() as AddressInfo;
    const session = open({ ...attacked, https: `https://127.0.0.1:${port}` });
    await once(session, 'remoteSettings');
    const total = 3000;
    for (let sent = 0; sent < total && !session.destroyed; sent += 1) {
      const stream = session.request({ ':path': '/v1/pki/echo', 'x-service-token': TOKEN });
      stream.on('error', () => undefined);
      stream.close(constants.NGHTTP2_CANCEL);
      if (sent % 50 === 0) await new Promise(setImmediate);
    }
    await ended.promise;
    session.destroy();
    between.close();
    const served = attacked.lines.filter((line) => line.includes('/v1/pki/echo')).length;
    expect(served).toBeLessThan(total / 2);
    const next = open(attacked);
    expect(await statusOf(next, { ':path': '/v1/pki/echo' })).toBe(200);
    next.close();
    await attacked.stop();
  });

  test('a connection without requests is closed', async () => {
    const short = await startGateway({ KEELSON_KEEP_ALIVE_SECONDS: '1' }, certificate);
    const session = open(short);
    expect(await statusOf(session, { ':path': '/healthz' })).toBe(200);
    await once(session, 'close');
    await short.stop();
  });

  test('an answer that its client does not read is given up', async () => {
    const short = await startGateway(
      { KEELSON_REQUEST_TIME_LIMIT_SECONDS: '1' },
      certificate,
      {},
      { limits: { transferMs: 1000 } },
    );
    const session = open(short);
    const stream = session.request({ ':path': '/v1/pki/big', 'x-service-token': TOKEN });
    const [error] = (await once(stream, 'error')) as [Error];
    expect(error.message).toContain('NGHTTP2_INTERNAL_ERROR');
    session.destroy();
    await short.stop();
  });

  test('stopping answers what is in progress and refuses further requests', async () => {
    const stopping = await startGateway({}, certificate);
    const session = open(stopping);
    const answered = ask(session, { ':path': '/v1/pki/big' });
    await once(session, 'connect');
    const ended = once(session, 'close');
    const { text } = await answered;
    expect(text).toHaveLength(2_000_000);
    await stopping.stop();
    await ended;
  });
});
