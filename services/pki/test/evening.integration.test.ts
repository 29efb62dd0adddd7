/** A user's evening: an authority, a server with a certificate of it, clients that check lists, a revocation. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import tls from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Mounts, openMounts, other } from './open-mounts.ts';

let mounts: Mounts;

beforeEach(async () => {
  mounts = await openMounts();
});
afterEach(() => mounts.close());

const NAME = 'shop.example.com';

/** A TLS server that greets whoever gets through the handshake. */
const startServer = async (key: string, cert: string) => {
  const server = tls.createServer({ key, cert }, (socket) => socket.end('good evening'));
  server.on('tlsClientError', () => undefined);
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

/** What a Node client hears, or the code it hangs up with. */
const greeting = (port: number, ca: string, crl: readonly Buffer[]): Promise<string> =>
  new Promise((resolve) => {
    const secureContext = tls.createSecureContext({ ca, crl: crl.map(toPem) });
    const socket = tls.connect({ host: '127.0.0.1', port, servername: NAME, secureContext });
    let heard = '';
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
      `s_client -connect 127.0.0.1:${port} -servername ${NAME} -verify_hostname ${NAME} -crl_check_all -verify_return_error`.split(
        ' ',
      );
    const child = execFile('openssl', [...args, '-CAfile', trustFile], (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
    child.stdin?.end();
  });

describe("a user's evening", () => {
  test('ends with a revoked server that no client talks to, and a new one that all do', async () => {
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

    const first = await issue();
    await using server = await startServer(first.private_key, first.chain);
    expect(await greeting(server.port, ca, await lists())).toBe('good evening');
    const accepted = await openssl(server.port, await trustFile());
    expect(accepted).toContain('Verify return code: 0 (ok)');
    expect(accepted).toContain('Verified peername');

    await post('revoke', { serial_number: first.serial_number }, other);
    expect(await greeting(server.port, ca, await lists())).toBe('CERT_REVOKED');
    expect(await openssl(server.port, await trustFile())).toContain('certificate revoked');

    const second = await issue();
    server.renew(second.private_key, second.chain);
    expect(await greeting(server.port, ca, await lists())).toBe('good evening');
    expect(await openssl(server.port, await trustFile())).toContain('Verify return code: 0');
  });
});
