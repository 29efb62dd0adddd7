/** dehydrated, unmodified from Debian, against a real process. */
import { X509Certificate } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeSite, startAcmeSite } from './acme-site.ts';

let site: AcmeSite;
beforeAll(async () => {
  site = await startAcmeSite();
});
afterAll(() => site?.[Symbol.asyncDispose]());

/** A dehydrated with its own folder and account. */
const configure = async (account: string, settings: Readonly<Record<string, string>>) => {
  const folder = join(site.folder, account);
  await mkdir(folder, { recursive: true });
  const config = join(folder, 'config');
  const all = {
    CA: site.directory(),
    BASEDIR: folder,
    WELLKNOWN: join(site.webroot, '.well-known/acme-challenge'),
    ALPNCERTDIR: site.alpnFolder,
    CONTACT_EMAIL: 'admin@example.com',
    KEY_ALGO: 'prime256v1',
    ACCOUNT_KEYSIZE: '2048',
    CURL_OPTS: `--cacert ${site.caFile}`,
    ...settings,
  };
  await writeFile(
    config,
    Object.entries(all)
      .map(([name, value]) => `${name}="${value}"\n`)
      .join(''),
  );
  const dehydrated = (...args: readonly string[]): Promise<string> =>
    site.execute('dehydrated', 'dehydrated', ['--config', config, ...args]);
  await dehydrated('--register', '--accept-terms');
  return {
    dehydrated,
    chainOf: (name: string) => readFile(join(folder, 'certs', name, 'fullchain.pem'), 'utf8'),
    certificateFile: (name: string) => join(folder, 'certs', name, 'cert.pem'),
  };
};

const serialOf = (pem: string): string => new X509Certificate(pem).serialNumber;

/** Answers dns-01 as the user of a DNS server with an interface would. */
const writeHook = async (): Promise<string> => {
  const file = join(site.folder, 'hook.sh');
  await writeFile(
    file,
    `#!/bin/sh
case "$1" in
  deploy_challenge) action=present ;;
  clean_challenge) action=cleanup ;;
  *) exit 0 ;;
esac
exec curl -sSf ${site.hookUrl}/$action -d "{\\"fqdn\\":\\"_acme-challenge.$2\\",\\"value\\":\\"$4\\"}"
`,
  );
  await chmod(file, 0o755);
  return file;
};

describe('dehydrated', () => {
  test('proves names by http-01, updates its account, renews, revokes', async () => {
    const { dehydrated, chainOf, certificateFile } = await configure('http', {});
    const names = ['--domain', 'a.example.com b.example.com'];
    await dehydrated('--cron', ...names);
    await dehydrated('--account');
    const first = await chainOf('a.example.com');
    expect(await site.verify(first)).toBe('DNS:a.example.com, DNS:b.example.com');
    await dehydrated('--cron', '--force', ...names);
    const second = await chainOf('a.example.com');
    expect(serialOf(second)).not.toBe(serialOf(first));
    await dehydrated('--revoke', certificateFile('a.example.com'));
    expect([await site.isRevoked(second), await site.isRevoked(first)]).toEqual([true, false]);
  });

  test('proves a wildcard by dns-01, registered by an external account binding', async () => {
    const { kid, hmac } = await site.newBinding('roles/web/');
    const { dehydrated, chainOf } = await configure('dns', {
      CA: site.directory('roles/web/'),
      CHALLENGETYPE: 'dns-01',
      HOOK: await writeHook(),
      EAB_KID: kid,
      EAB_HMAC_KEY: hmac,
    });
    await dehydrated('--cron', '--domain', '*.example.com', '--alias', 'wildcard');
    expect(await site.verify(await chainOf('wildcard'))).toBe('DNS:*.example.com');
  });

  test('proves a name by tls-alpn-01', async () => {
    const { dehydrated, chainOf } = await configure('tls', { CHALLENGETYPE: 'tls-alpn-01' });
    await dehydrated('--cron', '--domain', 'tls.example.com');
    expect(await site.verify(await chainOf('tls.example.com'))).toBe('DNS:tls.example.com');
  });
});
