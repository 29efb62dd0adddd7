/** http-01 against web servers on loopback, named by a DNS server. */

import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server as TcpServer,
} from 'node:net';
import { type DnsServer, startDns } from '@keelson/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { anAttempt, KEY_AUTHORIZATION, someSettings } from '../../../test/acme-attempt.ts';
import { aSelfSignedServer } from '../../../test/self-signed-server.ts';
import { type ChallengeAttempt, type ValidationSettings } from './challenge-attempt.ts';
import { validateChallenge } from './challenge-validation.ts';

const NAME = 'shop.example.com';
const PATH = `/.well-known/acme-challenge/${anAttempt().token}`;

let dns: DnsServer;
let open: (Server | TcpServer)[];
beforeEach(async () => {
  dns = await startDns();
  dns.set(NAME, 'A', ['127.0.0.1']);
  open = [];
});
afterEach(async () => {
  for (const server of open) {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  }
  await dns[Symbol.asyncDispose]();
});

const listen = async (server: Server | TcpServer, host = '127.0.0.1'): Promise<number> => {
  open.push(server);
  server.listen(0, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};

const serve = (listener: RequestListener, host?: string): Promise<number> =>
  listen(createServer(listener), host);

const answering =
  (body: string, status = 200): RequestListener =>
  (_, response) => {
    response.writeHead(status).end(body);
  };

const redirectingTo =
  (location: string, status = 302): RequestListener =>
  (_, response) => {
    response.writeHead(status, { location }).end('s3cret');
  };

const validate = (
  http: number,
  settings: Partial<ValidationSettings> = {},
  attempt: Partial<ChallengeAttempt> = {},
) =>
  validateChallenge(
    anAttempt(attempt),
    someSettings({ dnsResolver: dns.address, ports: { http, tls: 1 }, ...settings }),
  );

const problem = (type: string, detail: string, kind = 'retry') => ({
  kind,
  problem: { type, detail },
});

describe('http-01 is proven', () => {
  test('by the file, requested as in the RFC', async () => {
    const seen: unknown[] = [];
    const port = await serve((request, response) => {
      seen.push([request.method, request.url, request.headers.host]);
      response.end(KEY_AUTHORIZATION);
    });
    expect(await validate(port)).toEqual({ kind: 'valid' });
    expect(seen).toEqual([['GET', PATH, `${NAME}:${port}`]]);
  });

  test('with white space after it', async () => {
    expect(await validate(await serve(answering(`${KEY_AUTHORIZATION}\r\n \n`)))).toEqual({
      kind: 'valid',
    });
  });

  test('in chunks', async () => {
    const port = await serve((_, response) => {
      response.write(KEY_AUTHORIZATION.slice(0, 5));
      response.end(KEY_AUTHORIZATION.slice(5));
    });
    expect(await validate(port)).toEqual({ kind: 'valid' });
  });

  test('over IPv6', async () => {
    dns.set(NAME, 'A', []);
    dns.set(NAME, 'AAAA', ['::1']);
    expect(await validate(await serve(answering(KEY_AUTHORIZATION), '::1'))).toEqual({
      kind: 'valid',
    });
  });

  test('over IPv4 when the IPv6 address does not accept connections', async () => {
    dns.set(NAME, 'AAAA', ['::1']);
    expect(await validate(await serve(answering(KEY_AUTHORIZATION)))).toEqual({ kind: 'valid' });
  });

  test.for([
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '[::1]'],
  ] as const)('for the address %s itself, without DNS', async ([value, host]) => {
    const hosts: unknown[] = [];
    const port = await serve((request, response) => {
      hosts.push(request.headers.host);
      response.end(KEY_AUTHORIZATION);
    }, value);
    expect(await validate(port, {}, { identifier: { type: 'ip', value } })).toEqual({
      kind: 'valid',
    });
    expect(hosts).toEqual([`${host}:${port}`]);
    expect(dns.asked).toEqual([]);
  });

  test('for a name that only the system’s hosts file contains', async () => {
    const port = await serve(answering(KEY_AUTHORIZATION));
    const identifier = { type: 'dns', value: 'localhost' } as const;
    expect(await validate(port, { dnsResolver: '' }, { identifier })).toEqual({ kind: 'valid' });
  });

  test('through an alias', async () => {
    dns.set(NAME, 'A', []);
    dns.set(NAME, 'CNAME', ['web.example.net']);
    dns.set('web.example.net', 'A', ['127.0.0.1']);
    expect(await validate(await serve(answering(KEY_AUTHORIZATION)))).toEqual({ kind: 'valid' });
  });
});

describe('http-01 follows a redirect', () => {
  test.for([301, 302, 303, 307, 308])('with status %i', async (status) => {
    const port = await serve((request, response) =>
      request.url === '/there'
        ? response.end(KEY_AUTHORIZATION)
        : response.writeHead(status, { location: '/there' }).end(),
    );
    expect(await validate(port)).toEqual({ kind: 'valid' });
  });

  test('to another host over HTTPS with a certificate that nobody trusts', async () => {
    dns.set('central.example.net', 'A', ['127.0.0.1']);
    const seen: unknown[] = [];
    const { key, cert } = await aSelfSignedServer('something.else');
    const tls = await listen(
      createTlsServer({ key, cert }, (request, response) => {
        seen.push([request.url, request.headers.host]);
        response.end(KEY_AUTHORIZATION);
      }),
    );
    const target = `https://central.example.net:${tls}/a/b?c=d`;
    const http = await serve(redirectingTo(target));
    expect(await validate(http, { ports: { http, tls } })).toEqual({ kind: 'valid' });
    expect(seen).toEqual([['/a/b?c=d', `central.example.net:${tls}`]]);
  });

  test('ten times and not an eleventh time', async () => {
    let requests = 0;
    const endless = await serve((_, response) => {
      requests += 1;
      response.writeHead(302, { location: `/${requests}` }).end();
    });
    expect(await validate(endless)).toEqual(problem('connection', 'more than 10 redirects'));
    expect(requests).toBe(11);
  });
});

describe('http-01 does not follow a redirect', () => {
  test.for([
    ['file:///etc/passwd', 'to another scheme'],
    ['ftp://example.com/', 'to another scheme'],
    ['http://user:secret@shop.example.com/', 'to a URL with credentials'],
    ['http://shop.example.com:6379/', 'to a port other than'],
    ['https://shop.example.com:8200/v1/sys/seal', 'to a port other than'],
    ['http://', 'to something that is no URL'],
    [`/${'a'.repeat(2000)}`, 'to a URL longer than 2000 characters'],
  ] as const)('to %s', async ([location, why]) => {
    const outcome = await validate(await serve(redirectingTo(location)));
    expect(outcome).toMatchObject({ kind: 'retry', problem: { type: 'connection' } });
    expect(JSON.stringify(outcome)).toContain(`redirects ${why}`);
    expect(JSON.stringify(outcome)).not.toMatch(/passwd|secret|seal/);
  });

  test('without a location', async () => {
    expect(await validate(await serve(answering('', 302)))).toMatchObject({
      problem: { type: 'connection' },
    });
  });

  test.for([
    'http://169.254.169.254/latest/meta-data/',
    'http://0xa9fea9fe/',
    'http://2852039166/',
  ])('to the metadata service as %s', async (location) => {
    const outcome = await validate(await serve(redirectingTo(location)));
    expect(outcome).toEqual(
      problem(
        'rejectedIdentifier',
        'the address policy permits no address of 169.254.169.254',
        'invalid',
      ),
    );
  });

  test('to a name with an address that the policy excludes', async () => {
    dns.set('inside.example.net', 'A', ['127.0.0.2']);
    const addressRanges = { permitted: [], excluded: ['127.0.0.2'] };
    const port = await serve(redirectingTo('http://inside.example.net/'));
    expect(await validate(port, { addressRanges })).toMatchObject({
      kind: 'invalid',
      problem: { type: 'rejectedIdentifier' },
    });
  });
});

describe('http-01 is not proven', () => {
  test.for([
    ['another key authorization', 'token.thumbprint'],
    ['nothing', ''],
    ['white space before it', ` ${KEY_AUTHORIZATION}`],
    ['something after it', `${KEY_AUTHORIZATION} s3cret`],
  ] as const)('by %s, and the response is not shown', async ([, body]) => {
    const port = await serve(answering(body));
    expect(await validate(port)).toEqual(
      problem(
        'incorrectResponse',
        `${NAME}:${port} answered with something else than the key authorization`,
      ),
    );
  });

  test.for([204, 400, 403, 404, 500, 503])('by a response with status %i', async (status) => {
    const port = await serve(answering(status === 204 ? '' : KEY_AUTHORIZATION, status));
    expect(await validate(port)).toEqual(
      problem('incorrectResponse', `${NAME}:${port} answered with ${status}`),
    );
  });

  test('by an endless response, of which little is read', async () => {
    const port = await serve((_, response) => {
      const more = (): void => {
        while (response.write('a'.repeat(1024)));
        response.once('drain', more);
      };
      more();
    });
    expect(await validate(port)).toEqual(
      problem('incorrectResponse', `${NAME}:${port} answered with more than 512 octets`),
    );
  });

  test('by endless headers', async () => {
    const port = await listen(
      createTcpServer((socket) => {
        socket.on('error', () => undefined);
        socket.write(`HTTP/1.1 200 OK\r\n${'x-filler: aaaaaaaaaaaaaaaa\r\n'.repeat(1000)}`);
      }),
    );
    expect(await validate(port)).toEqual(
      problem('connection', `reading from ${NAME}:${port}: HPE_HEADER_OVERFLOW`),
    );
  });

  test.for([
    ['closes the connection', ''],
    ['speaks another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
    [
      'switches the protocol',
      'HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
    ],
    ['ends early', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc'],
  ] as const)('by a server that %s', async ([, text]) => {
    const port = await listen(
      createTcpServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => socket.end(text));
      }),
    );
    const outcome = await validate(port);
    expect(outcome).toMatchObject({ kind: 'retry', problem: { type: 'connection' } });
    expect(JSON.stringify(outcome)).not.toContain('OpenSSH');
  });

  test('by a server that does not answer in time', async () => {
    const port = await listen(createTcpServer(() => undefined));
    const timeoutsMs = { connect: 200, attempt: 60_000 };
    expect(await validate(port, { timeoutsMs })).toMatchObject({
      kind: 'retry',
      problem: { type: 'connection', detail: expect.stringContaining('ETIMEDOUT') },
    });
  });

  test('by a server that answers a byte at a time', async () => {
    const port = await listen(
      createTcpServer((socket) => {
        const timer = setInterval(() => socket.write('H'), 20);
        socket.on('error', () => undefined).once('close', () => clearInterval(timer));
      }),
    );
    const timeoutsMs = { connect: 60_000, attempt: 300 };
    expect(await validate(port, { timeoutsMs })).toMatchObject({
      kind: 'retry',
      problem: { type: 'connection' },
    });
  });

  test('where nothing listens, and reports the address', async () => {
    dns.set(NAME, 'A', ['127.0.0.9']);
    dns.set(NAME, 'AAAA', ['::1']);
    const port = await serve(answering(''));
    expect(await validate(port)).toEqual(
      problem(
        'connection',
        `connecting to ${NAME}: [::1]:${port}: ECONNREFUSED, 127.0.0.9:${port}: ECONNREFUSED`,
      ),
    );
  });

  test('for a name without an address', async () => {
    const identifier = { type: 'dns', value: 'absent.example.com' } as const;
    expect(await validate(80, {}, { identifier })).toEqual(
      problem('dns', 'absent.example.com has no address'),
    );
  });

  test('at an address that is not permitted, although the name’s other addresses are tried', async () => {
    dns.set(NAME, 'A', ['169.254.169.254', '127.0.0.1']);
    expect(await validate(await serve(answering(KEY_AUTHORIZATION)))).toEqual({ kind: 'valid' });
    dns.set(NAME, 'A', ['169.254.169.254']);
    expect(await validate(80)).toMatchObject({
      kind: 'invalid',
      problem: { type: 'rejectedIdentifier' },
    });
  });

  test('at an address from a second look-up: the connection uses the checked one', async () => {
    const addressRanges = { permitted: ['127.0.0.1'], excluded: [] };
    const port = await serve(answering(KEY_AUTHORIZATION));
    expect(await validate(port, { addressRanges })).toEqual({ kind: 'valid' });
    expect(dns.asked.filter((question) => question === `A ${NAME}`)).toHaveLength(1);
  });

  test('by more than three connection attempts', async () => {
    dns.set(NAME, 'A', ['127.0.0.5', '127.0.0.6', '127.0.0.7', '127.0.0.1']);
    const outcome = await validate(await serve(answering(KEY_AUTHORIZATION)));
    expect(JSON.stringify(outcome).match(/ECONNREFUSED/g)).toHaveLength(3);
  });
});
