/** tls-alpn-01 against TLS servers on loopback, named by a DNS server. */

import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { createServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { type DnsServer, startDns } from '@keelson/testkit';
import type { GeneralName } from '@keelson/x509';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { anAttempt, KEY_AUTHORIZATION, someSettings } from '../../../test/acme-attempt.ts';
import { acmeIdentifier, aSelfSigned, type SelfSigned } from '../../../test/self-signed-server.ts';
import { type ChallengeAttempt } from './challenge-attempt.ts';
import { validateChallenge } from './challenge-validation.ts';
import { reverseName } from './tls-alpn-01.ts';

const NAME = 'shop.example.com';
const PROOF: SelfSigned = {
  names: [{ kind: 'dns', value: NAME }],
  extensions: [acmeIdentifier(KEY_AUTHORIZATION)],
};

let dns: DnsServer;
let servers: Server[];
/** Names that clients sent in SNI. */
let named: string[];
beforeEach(async () => {
  dns = await startDns();
  dns.set(NAME, 'A', ['127.0.0.1']);
  servers = [];
  named = [];
});
afterEach(async () => {
  for (const server of servers) server.close();
  await dns[Symbol.asyncDispose]();
});

const listen = async (server: Server, host = '127.0.0.1'): Promise<number> => {
  servers.push(server.listen(0, host));
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};

const serve = async (
  made: SelfSigned,
  options: TlsOptions = {},
  host?: string,
): Promise<number> => {
  const credentials = await aSelfSigned(made);
  const server = createServer({
    ...credentials,
    ALPNProtocols: ['acme-tls/1'],
    SNICallback: (name, done) => {
      named.push(name);
      done(null);
    },
    ...options,
  });
  server.on('tlsClientError', () => undefined);
  server.on('secureConnection', (socket) => {
    socket.on('error', () => undefined);
  });
  return listen(server, host);
};

const validate = (tls: number, identifier?: ChallengeAttempt['identifier']) =>
  validateChallenge(
    anAttempt({ type: 'tls-alpn-01', ...(identifier && { identifier }) }),
    someSettings({ dnsResolver: dns.address, ports: { http: 1, tls } }),
  );

describe('tls-alpn-01', () => {
  test('is proven by the certificate', async () => {
    expect(await validate(await serve(PROOF))).toEqual({ kind: 'valid' });
    expect(named).toEqual([NAME]);
  });

  test('is proven with TLS 1.2', async () => {
    const port = await serve(PROOF, { maxVersion: 'TLSv1.2' });
    expect(await validate(port)).toEqual({ kind: 'valid' });
  });

  test('is not proven with TLS 1.1', async () => {
    // Old protocol versions need ciphers that are disabled by default.
    const old = {
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    } as const;
    expect(await validate(await serve(PROOF, old))).toMatchObject({
      kind: 'retry',
      problem: { type: 'tls' },
    });
  });

  test('offers only its protocol, sends no data, resumes no session', async () => {
    const offered: (readonly string[])[] = [];
    const port = await serve(PROOF, {
      // In TLS 1.2 the server finishes the handshake first; in TLS 1.3 it might see only a reset.
      maxVersion: 'TLSv1.2',
      ALPNProtocols: undefined,
      ALPNCallback: ({ protocols }) => {
        offered.push(protocols);
        return 'acme-tls/1';
      },
    });
    const connections: Promise<readonly [boolean, number]>[] = [];
    servers[0]?.on('secureConnection', (socket: TLSSocket) => {
      const { promise, resolve } = Promise.withResolvers<readonly [boolean, number]>();
      connections.push(promise);
      const isReused = socket.isSessionReused();
      let octets = 0;
      socket.on('data', (data: Buffer) => {
        octets += data.byteLength;
      });
      socket.once('close', () => resolve([isReused, octets]));
    });
    for (const _ of [1, 2]) expect(await validate(port)).toEqual({ kind: 'valid' });
    expect(offered).toEqual([['acme-tls/1'], ['acme-tls/1']]);
    // Only the validation closes these connections.
    await expect.poll(() => connections.length).toBe(2);
    expect(await Promise.all(connections)).toEqual([
      [false, 0],
      [false, 0],
    ]);
  });

  test('compares names without regard to case', async () => {
    const names: GeneralName[] = [{ kind: 'dns', value: 'SHOP.example.COM' }];
    expect(await validate(await serve({ ...PROOF, names }))).toEqual({ kind: 'valid' });
  });

  test.for([
    ['127.0.0.1', '1.0.0.127.in-addr.arpa'],
    ['::1', `1.${'0.'.repeat(31)}ip6.arpa`],
  ] as const)(
    'is proven for the address %s, requested by its reverse name',
    async ([value, sni]) => {
      const port = await serve({ ...PROOF, names: [{ kind: 'ip', value }] }, {}, value);
      expect(await validate(port, { type: 'ip', value })).toEqual({ kind: 'valid' });
      expect(named).toEqual([sni]);
      expect(dns.asked).toEqual([]);
    },
  );

  test.for([
    [
      'of another key authorization',
      { extensions: [acmeIdentifier('other')] },
      'has an acmeIdentifier extension of another key authorization',
    ],
    ['without the extension', { extensions: [] }, 'has no acmeIdentifier extension'],
    [
      'whose extension is not critical',
      { extensions: [acmeIdentifier(KEY_AUTHORIZATION, false)] },
      'has an acmeIdentifier extension that is not critical',
    ],
    [
      'for another name',
      { names: [{ kind: 'dns', value: 'other.example.com' }] },
      'has other alternative names than the identifier alone',
    ],
    [
      'for a further name',
      { names: [...PROOF.names, { kind: 'dns', value: 'other.example.com' }] },
      'has other alternative names than the identifier alone',
    ],
    [
      'for the name and an address',
      { names: [...PROOF.names, { kind: 'ip', value: '127.0.0.1' }] },
      'has other alternative names than the identifier alone',
    ],
    ['without names', { names: [] }, 'has other alternative names than the identifier alone'],
    ['of another issuer', { issuer: 'another' }, 'is not self-signed'],
  ] as const)('is not proven by a certificate %s', async ([, changes, fault]) => {
    const port = await serve({ ...PROOF, ...changes });
    expect(await validate(port)).toEqual({
      kind: 'retry',
      problem: {
        type: 'incorrectResponse',
        detail: `the certificate of ${NAME}:${port} ${fault}`,
      },
    });
  });

  test('is not proven for an address by a certificate for its text as a name', async () => {
    const port = await serve({ ...PROOF, names: [{ kind: 'dns', value: '127.0.0.1' }] });
    expect(await validate(port, { type: 'ip', value: '127.0.0.1' })).toMatchObject({
      problem: { type: 'incorrectResponse' },
    });
  });

  test('is not proven without negotiating the protocol', async () => {
    const port = await serve(PROOF, { ALPNProtocols: [] });
    expect(await validate(port)).toEqual({
      kind: 'retry',
      problem: { type: 'tls', detail: `${NAME}:${port} does not negotiate acme-tls/1` },
    });
  });

  test('is not proven by a server with other protocols', async () => {
    const port = await serve(PROOF, { ALPNProtocols: ['h2', 'http/1.1'] });
    expect(await validate(port)).toMatchObject({ kind: 'retry', problem: { type: 'tls' } });
  });

  test('is not proven by a server without TLS', async () => {
    const port = await listen(
      createTcpServer((socket) => {
        socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n');
      }),
    );
    expect(await validate(port)).toMatchObject({ kind: 'retry', problem: { type: 'tls' } });
  });

  test('is not proven where nothing listens', async () => {
    dns.set(NAME, 'A', ['127.0.0.9']);
    const port = await serve(PROOF);
    expect(await validate(port)).toEqual({
      kind: 'retry',
      problem: {
        type: 'connection',
        detail: `connecting to ${NAME}: 127.0.0.9:${port}: ECONNREFUSED`,
      },
    });
  });
});

test('IPv6 addresses have reverse names of nibbles', () => {
  expect(reverseName('2001:db8::567:89ab')).toBe(
    'b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa',
  );
});
