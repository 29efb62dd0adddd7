/**
 * A user's evening: an authority, a server with a certificate of it, clients that check lists, a
 * revocation.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Mounts, openMounts, other } from './open-mounts.ts';

let mounts: Mounts;

beforeEach(async () => {
  mounts = await openMounts();
});
afterEach(() => mounts.close());

const NAME = 'shop.example.com';

/** A TLS server that greets whoever gets through the handshake, and staples the status of its certificate. */
const startServer = async (key: string, cert: string, status: () => Promise<Buffer>) => {
  const server = tls.createServer({ key, cert }, (socket) => socket.end('good evening'));
  server.on('tlsClientError', () => undefined);
  server.on('OCSPRequest', (_certificate, _issuer, answer) => {
    status().then(
      (der) => answer(null, der),
      (error: Error) => answer(error, Buffer.alloc(0)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    renew: (newKey: string, newCert: string) =>
      server.setSecureContext({ key: newKey, cert: newCert }),
    [Symbol.asyncDispose]: async () => {
      server.close();
      await once(server, 'close');
    },
  };
};

interface Trust {
  readonly ca: string;
  /** Lists to look into, if any. */
  readonly crl?: readonly Buffer[];
  /** Whether a stapled status is good; absent if it is not asked for. */
  readonly isGood?: (status: Buffer) => boolean;
}

/** The response to a Node client, or the reason why it closes the connection. */
const greeting = (port: number, { ca, crl, isGood }: Trust): Promise<string> =>
  new Promise((resolve) => {
    const secureContext = tls.createSecureContext({ ca, ...(crl && { crl: crl.map(toPem) }) });
    const socket = tls.connect({
      host: '127.0.0.1',
      port,
      servername: NAME,
      secureContext,
      requestOCSP: isGood !== undefined,
    });
    let heard = '';
    socket.on('OCSPResponse', (status: Buffer) => {
      if (isGood?.(status) === true) return;
      resolve('status not good');
      socket.destroy();
    });
    socket.on('data', (chunk) => {
      heard += chunk;
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
    socket.on('end', () => resolve(heard));
  });

const toPem = (der: Buffer): string =>
  `-----BEGIN X509 CRL-----\n${der.toString('base64')}\n-----END X509 CRL-----\n`;

/** The verdict of `openssl s_client` with the root and the lists in one file. */
const openssl = (port: number, trustFile: string): Promise<string> =>
  new Promise((resolve) => {
    const args =
      `s_client -connect 127.0.0.1:${port} -servername ${NAME} -verify_hostname ${NAME} -status -crl_check_all -verify_return_error`.split(
        ' ',
      );
    const child = execFile('openssl', [...args, '-CAfile', trustFile], (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
    child.stdin?.end();
  });

describe("a user's evening", () => {
  test('ends with a revoked server that all clients refuse, and a new one that all accept', async () => {
    const { pki, file, post, root, intermediate } = mounts;
    const { certificate: ca } = await root('Evening Root');
    const { signed } = await intermediate();
    await post(
      'roles/web',
      { allowed_domains: 'example.com', allow_subdomains: true, key_type: 'ec' },
      other,
    );
    const issue = async () => {
      const { data } = await post('issue/web', { common_name: NAME, ttl: '12h' }, other);
      return { ...data, chain: `${data.certificate}\n${signed.data.certificate}` };
    };
    const lists = async () => [
      (await pki.call('GET', 'crl')).bytes,
      (await pki.call('GET', 'crl', undefined, { mount: other })).bytes,
    ];
    const trustFile = async () => file('trust.pem', [ca, ...(await lists()).map(toPem)].join('\n'));

    const issuerFile = file('issuer.pem', signed.data.certificate);
    /** The status of the served certificate, as its server asks for it. */
    const status = async (): Promise<Buffer> => {
      const request = join(issuerFile, '..', 'request.der');
      const args = ['ocsp', '-issuer', issuerFile, '-cert', leafFile, '-no_nonce'];
      mounts.openssl(...args, '-reqout', request);
      const type = { contentType: 'application/ocsp-request', mount: other };
      return (await pki.call('POST', 'ocsp', readFileSync(request), type)).bytes;
    };
    /** The judgement of a client: signed for this certificate by its issuer, and good. */
    const isGood = (der: Buffer): boolean => {
      const named = ['-issuer', issuerFile, '-cert', leafFile, '-verify_other', issuerFile];
      const checked = ['-respin', file('status.der', der), '-CAfile', file('root.pem', ca)];
      return mounts.openssl('ocsp', ...checked, ...named).includes('leaf.pem: good');
    };

    const first = await issue();
    let leafFile = file('leaf.pem', first.certificate);
    await using server = await startServer(first.private_key, first.chain, status);
    expect(await greeting(server.port, { ca, crl: await lists(), isGood })).toBe('good evening');
    const accepted = await openssl(server.port, await trustFile());
    expect(accepted).toContain('Verify return code: 0 (ok)');
    expect(accepted).toContain('Verified peername');
    expect(accepted).toMatch(/Cert Status: good/);

    await post('revoke', { serial_number: first.serial_number }, other);
    expect(await greeting(server.port, { ca, crl: await lists() })).toBe('CERT_REVOKED');
    expect(await greeting(server.port, { ca, isGood })).toBe('status not good');
    const refused = await openssl(server.port, await trustFile());
    expect(refused).toContain('certificate revoked');

    const second = await issue();
    leafFile = file('leaf.pem', second.certificate);
    server.renew(second.private_key, second.chain);
    expect(await greeting(server.port, { ca, crl: await lists(), isGood })).toBe('good evening');
    expect(await openssl(server.port, await trustFile())).toContain('Verify return code: 0');
  });
});
