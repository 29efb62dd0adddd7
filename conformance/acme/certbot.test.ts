/** certbot, unmodified from Debian, against a real process. */
import { X509Certificate } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeSite, OWN_ADDRESS, startAcmeSite } from './acme-site.ts';

let site: AcmeSite;
beforeAll(async () => {
  site = await startAcmeSite();
});
afterAll(() => site?.[Symbol.asyncDispose]());

/** certbot with separate state for each `account`. */
const certbot = (account: string, ...args: readonly string[]): Promise<string> => {
  const folders = ['config', 'work', 'logs'].flatMap((kind) => [
    `--${kind}-dir`,
    join(site.folder, account, kind),
  ]);
  return site.execute('certbot', 'certbot', [...args, '--non-interactive', ...folders], {
    REQUESTS_CA_BUNDLE: site.caFile,
  });
};

const register = ['--agree-tos', '-m', 'admin@example.com'];
const live = (account: string, name: string, file: string): string =>
  join(site.folder, account, 'config/live', name, file);
const chainOf = (account: string, name: string): Promise<string> =>
  readFile(live(account, name, 'fullchain.pem'), 'utf8');
const serialOf = (pem: string): string => new X509Certificate(pem).serialNumber;

describe('certbot', () => {
  test('proves a name by http-01 with its own server, renews, revokes', async () => {
    const name = 'standalone.example.com';
    site.dns.set(name, 'A', [OWN_ADDRESS]);
    const solve = ['--standalone', '--http-01-address', OWN_ADDRESS];
    const port = ['--http-01-port', String(site.httpPort)];
    const server = ['--server', site.directory()];
    await certbot('one', 'certonly', ...register, ...server, ...solve, ...port, '-d', name);
    const first = await chainOf('one', name);
    expect(await site.verify(first)).toBe(`DNS:${name}`);

    await certbot('one', 'renew', '--force-renewal', '--no-random-sleep-on-renew');
    const second = await chainOf('one', name);
    expect(serialOf(second)).not.toBe(serialOf(first));
    expect(await site.verify(second)).toBe(`DNS:${name}`);

    const certificate = ['--cert-path', live('one', name, 'cert.pem')];
    const kept = '--no-delete-after-revoke';
    await certbot('one', 'revoke', ...server, ...certificate, kept, '--reason', 'superseded');
    expect([await site.isRevoked(second), await site.isRevoked(first)]).toEqual([true, false]);
    expect(await site.revocationReasons(second)).toEqual(['Superseded', 'superseded']);
  });

  test('proves a wildcard and its name by dns-01 under a role', async () => {
    const hook = (action: string): string =>
      `curl -sSf ${site.hookUrl}/${action} -d "{\\"fqdn\\":\\"_acme-challenge.$CERTBOT_DOMAIN\\",\\"value\\":\\"$CERTBOT_VALIDATION\\"}"`;
    await certbot(
      'two',
      'certonly',
      ...register,
      '--server',
      site.directory('roles/web/'),
      '--manual',
      '--preferred-challenges',
      'dns',
      '--manual-auth-hook',
      hook('present'),
      '--manual-cleanup-hook',
      hook('cleanup'),
      '-d',
      'example.com',
      '-d',
      '*.example.com',
    );
    expect(await site.verify(await chainOf('two', 'example.com'))).toBe(
      'DNS:example.com, DNS:*.example.com',
    );
  });

  test('proves several names by a folder of the web server, with RSA, revokes by the key', async () => {
    const names = ['a.example.com', 'b.example.com', 'c.example.com'];
    await certbot(
      'three',
      'certonly',
      ...register,
      '--server',
      site.directory(),
      '--webroot',
      '-w',
      site.webroot,
      '--key-type',
      'rsa',
      ...names.flatMap((name) => ['-d', name]),
    );
    const chain = await chainOf('three', 'a.example.com');
    expect(await site.verify(chain)).toBe(names.map((name) => `DNS:${name}`).join(', '));
    await certbot(
      'four',
      'revoke',
      '--server',
      site.directory(),
      '--no-delete-after-revoke',
      '--reason',
      'keycompromise',
      '--cert-path',
      live('three', 'a.example.com', 'cert.pem'),
      '--key-path',
      live('three', 'a.example.com', 'privkey.pem'),
    );
    expect(await site.revocationReasons(chain)).toEqual(['Key Compromise', 'keyCompromise']);
  });

  test('registers with an external account binding, changes its address, deactivates its account', async () => {
    const { kid, hmac } = await site.newBinding('roles/web/');
    const server = ['--server', site.directory('roles/web/')];
    const binding = ['--eab-kid', kid, '--eab-hmac-key', hmac];
    await certbot('five', 'register', ...register, ...server, ...binding);
    await certbot('five', 'update_account', '-m', 'other@example.com', ...server);
    expect(await certbot('five', 'show_account', ...server)).toContain('other@example.com');
    await certbot('five', 'unregister', ...server);
    await expect(certbot('six', 'register', ...register, ...server, ...binding)).rejects.toThrow(
      'the external account binding does not verify',
    );
  });

  test('reports why a name was not proven', async () => {
    site.dns.set('metadata.example.com', 'A', ['169.254.169.254']);
    await expect(
      certbot(
        'seven',
        'certonly',
        ...register,
        '--server',
        site.directory(),
        '--webroot',
        '-w',
        site.webroot,
        '-d',
        'metadata.example.com',
      ),
    ).rejects.toThrow('the address policy permits no address of metadata.example.com');
  });

  test('downloads the chain that it prefers', async () => {
    const { csr } = await site.call('POST', 'pki/issuers/generate/intermediate/internal', {
      common_name: 'Crossed',
      key_type: 'ec',
    });
    const sign = async (mount: string): Promise<string> => {
      const signed = await site.call('POST', `${mount}/root/sign-intermediate`, {
        csr,
        common_name: 'Crossed',
        ttl: '8760h',
      });
      return String(signed['certificate']);
    };
    await site.call('POST', 'sys/mounts/other', {
      type: 'pki',
      config: { max_lease_ttl: '87600h' },
    });
    const other = await site.call('POST', 'other/root/generate/internal', {
      common_name: 'Other root',
      ttl: '87600h',
      key_type: 'ec',
    });
    const otherRoot = String(other['certificate']);
    const certificates = [await sign('pki'), await sign('other'), otherRoot];
    const imported = await site.call('POST', 'pki/issuers/import/cert', {
      pem_bundle: certificates.join('\n'),
    });
    const [crossed] = imported['imported_issuers'] as string[];
    const issue = async (account: string, chain: string): Promise<string> => {
      await certbot(
        account,
        'certonly',
        ...register,
        '--server',
        site.directory(`issuer/${crossed}/`),
        '--webroot',
        '-w',
        site.webroot,
        '-d',
        'chain.example.com',
        '--preferred-chain',
        chain,
      );
      return chainOf(account, 'chain.example.com');
    };
    const otherRootFile = join(site.folder, 'other-root.pem');
    await writeFile(otherRootFile, otherRoot);
    const byRoot = await issue('eight', 'Root of the site');
    const byOther = await issue('nine', 'Other root');
    await site.verify(byRoot);
    await site.verify(byOther, otherRootFile);
    await expect(site.verify(byOther)).rejects.toThrow('verification failed');
  });
});
