/** lego, unmodified from Debian, against a real process. */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeSite, OWN_ADDRESS, startAcmeSite } from './acme-site.ts';

let site: AcmeSite;
beforeAll(async () => {
  site = await startAcmeSite();
});
afterAll(() => site?.[Symbol.asyncDispose]());

interface Use {
  /** Folders of lego's state, one account each. */
  readonly account: string;
  readonly directory: string;
  readonly domains: readonly string[];
  /** How names are proven, and further global options. */
  readonly options: readonly string[];
}

const lego = ({ account, directory, domains, options }: Use, ...command: readonly string[]) =>
  site.execute(
    'lego',
    'lego',
    [
      '--server',
      directory,
      '--email',
      'admin@example.com',
      '--accept-tos',
      '--path',
      join(site.folder, account),
      ...domains.flatMap((name) => ['--domains', name]),
      ...options,
      ...command,
    ],
    { LEGO_CA_CERTIFICATES: site.caFile, HTTPREQ_ENDPOINT: site.hookUrl },
  );

const chainOf = ({ account, domains }: Use): Promise<string> => {
  const file = `${(domains[0] ?? '').replace('*', '_')}.crt`;
  return readFile(join(site.folder, account, 'certificates', file), 'utf8');
};
const serialOf = (pem: string): string => new X509Certificate(pem).serialNumber;

describe('lego', () => {
  test('proves a name by http-01 with its own server, renews, revokes', async () => {
    site.dns.set('http.example.com', 'A', [OWN_ADDRESS]);
    const use: Use = {
      account: 'http',
      directory: site.directory(),
      domains: ['http.example.com'],
      options: ['--http', '--http.port', `${OWN_ADDRESS}:${site.httpPort}`],
    };
    await lego(use, 'run');
    const first = await chainOf(use);
    expect(await site.verify(first)).toBe('DNS:http.example.com');
    await lego(use, 'renew', '--days', '3650', '--no-random-sleep');
    const second = await chainOf(use);
    expect(serialOf(second)).not.toBe(serialOf(first));
    await lego(use, 'revoke', '--keep', '--reason', '4');
    expect([await site.isRevoked(second), await site.isRevoked(first)]).toEqual([true, false]);
    expect(await site.revocationReasons(second)).toEqual(['Superseded', 'superseded']);
  });

  test('proves a name by tls-alpn-01 with its own server', async () => {
    site.dns.set('tls.example.com', 'A', [OWN_ADDRESS]);
    const use: Use = {
      account: 'tls',
      directory: site.directory('roles/web/'),
      domains: ['tls.example.com'],
      options: ['--tls', '--tls.port', `${OWN_ADDRESS}:${site.tlsPort}`],
    };
    await lego(use, 'run');
    expect(await site.verify(await chainOf(use))).toBe('DNS:tls.example.com');
  });

  test('proves a wildcard and its name by dns-01, registered by an external account binding', async () => {
    const { kid, hmac } = await site.newBinding();
    const use: Use = {
      account: 'dns',
      directory: site.directory(),
      domains: ['*.example.com', 'example.com'],
      options: [
        '--dns',
        'httpreq',
        '--dns.disable-cp',
        '--dns.resolvers',
        site.dns.address,
        '--eab',
        '--kid',
        kid,
        '--hmac',
        hmac,
      ],
    };
    await lego(use, 'run');
    expect(await site.verify(await chainOf(use))).toBe('DNS:*.example.com, DNS:example.com');
  });

  test('follows an alias of the challenge', async () => {
    site.dns.set('_acme-challenge.aliased.example.com', 'CNAME', ['challenges.example.net']);
    const use: Use = {
      account: 'alias',
      directory: site.directory(),
      domains: ['aliased.example.com'],
      options: ['--dns', 'httpreq', '--dns.disable-cp', '--dns.resolvers', site.dns.address],
    };
    await lego(use, 'run');
    expect(await site.verify(await chainOf(use))).toBe('DNS:aliased.example.com');
    expect(site.dns.asked).toContain('TXT challenges.example.net');
  });

  test('shows that the role does not allow a name', async () => {
    const use: Use = {
      account: 'refused',
      directory: site.directory('roles/web/'),
      domains: ['example.org'],
      options: ['--http', '--http.webroot', site.webroot],
    };
    await expect(lego(use, 'run')).rejects.toThrow('rejectedIdentifier');
  });
});
