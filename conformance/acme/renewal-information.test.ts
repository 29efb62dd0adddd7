/** Renewal information (RFC 9773) as a client uses it on its own: certbot, unmodified from its registry. */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installPythonPackages } from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AcmeSite, startAcmeSite } from './acme-site.ts';

let site: AcmeSite;
let packages: string;
beforeAll(async () => {
  site = await startAcmeSite();
  packages = await installPythonPackages(join(import.meta.dirname, 'requirements.txt'));
});
afterAll(() => site?.[Symbol.asyncDispose]());

const certbot = (...args: readonly string[]): Promise<string> => {
  const folders = ['config', 'work', 'logs'].flatMap((kind) => [
    `--${kind}-dir`,
    join(site.folder, kind),
  ]);
  return site.execute(
    'python3',
    'python3',
    [join(packages, 'bin/certbot'), ...args, '--non-interactive', ...folders],
    { REQUESTS_CA_BUNDLE: site.caFile, PYTHONPATH: packages },
  );
};

const obtain = (name: string): Promise<string> =>
  certbot(
    'certonly',
    '--agree-tos',
    '-m',
    'admin@example.com',
    '--server',
    site.directory(),
    '--webroot',
    '-w',
    site.webroot,
    '-d',
    name,
  );

const leafOf = async (name: string): Promise<X509Certificate> =>
  new X509Certificate(await readFile(join(site.folder, 'config/live', name, 'cert.pem')));

test('certbot renews what was revoked because renewal information says so, and leaves the rest', async () => {
  const [revoked, good] = ['revoked.example.com', 'good.example.com'];
  await obtain(revoked);
  await obtain(good);
  const before = [await leafOf(revoked), await leafOf(good)] as const;
  // The certificates have no OCSP or CRL URL, so that renewal information is the only source.
  expect(before[0].infoAccess).toBeUndefined();
  await site.call('POST', 'pki/revoke', { certificate: before[0].toString() });

  const output = await certbot('renew', '--no-random-sleep-on-renew');
  expect(output).toContain(`${good}/fullchain.pem expires on`);
  const after = [await leafOf(revoked), await leafOf(good)] as const;
  expect(after[0].serialNumber).not.toBe(before[0].serialNumber);
  expect(after[1].serialNumber).toBe(before[1].serialNumber);
  const renewal = await readFile(join(site.folder, 'config/renewal', `${good}.conf`), 'utf8');
  // The time of the next request, from Retry-After.
  expect(renewal).toMatch(/ari_retry_after = \d{4}-/);
});
