/** New authorities in the console, and certificates with names of every kind. */
import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';

const site = useConsole();

describe('authorities', { timeout: PATIENCE_MS }, () => {
  test('have the key, the subject and the constraints that are asked for, at any path', async () => {
    const { page, problems } = await site.openSignedIn('/ui/certificates');
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Create authority' }).click();
    await dialog.getByLabel('Path').fill('team/pki');
    await dialog.getByLabel('Name of the root').fill('Team Root');
    await dialog.getByLabel('Key').selectOption('ECDSA with P-384');
    await dialog.getByLabel('Valid for').fill('17520h');
    await dialog.getByText('Subject and constraints').click();
    await dialog.getByLabel('Organization').fill('Example');
    await dialog.getByLabel('Authorities that may follow').fill('1');
    await dialog.getByLabel('Only for names below').fill('example.com');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'team/pki' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'team/pki' }).waitFor();
    const { data } = await site.readSecret('team/pki/cert/ca');
    const root = new X509Certificate(data.certificate);
    expect(root.subject.split('\n')).toEqual(['O=Example', 'CN=Team Root']);
    expect(root.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'secp384r1' });
    expect(Date.parse(root.validTo) - Date.now()).toBeLessThan(17_521 * 3_600_000);
    expect(problems).toEqual([]);
  });

  test('leave nothing behind when their root is refused', async () => {
    const { page } = await site.openSignedIn('/ui/certificates');
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Create authority' }).click();
    await dialog.getByLabel('Path').fill('half');
    await dialog.getByLabel('Name of the root').fill('x'.repeat(70));
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('Name of the root').fill('Whole');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'half' }).waitFor();
    expect((await site.readSecret('half/cert/ca')).data.certificate).toContain('CERTIFICATE');
  });

  test('certify addresses, URIs and other names', async () => {
    await site.secrets('sys/mounts/kinds', { type: 'pki' });
    await site.secrets('kinds/root/generate/internal', { common_name: 'K', key_type: 'ec' });
    await site.secrets('kinds/roles/any', {
      allow_any_name: true,
      allowed_uri_sans: '*',
      allowed_other_sans: '*',
      require_cn: false,
      key_type: 'ec',
    });
    const { page, problems } = await site.openSignedIn('/ui/certificates/kinds?tab=roles');
    await page.getByRole('button', { name: 'Issue by any' }).click();
    await page.getByLabel('Name of the certificate').fill('10.0.0.7');
    await page.getByText('Further names').click();
    await page.getByLabel('DNS names').fill('a.example.com');
    await page.getByLabel('IP addresses').fill('2001:db8::7');
    await page.getByLabel('URIs').fill('spiffe://example/web');
    await page.getByRole('button', { name: 'Issue the certificate' }).click();
    const issued = page.getByRole('status', { name: 'Issued' });
    await issued.getByText('Certificate', { exact: true }).click();
    const names = new X509Certificate(await issued.locator('pre').first().innerText());
    expect(names.subjectAltName?.split(', ').toSorted((a, b) => a.localeCompare(b))).toEqual([
      'DNS:a.example.com',
      'IP Address:10.0.0.7',
      'IP Address:2001:DB8:0:0:0:0:0:7',
      'URI:spiffe://example/web',
    ]);
    expect(problems).toEqual([]);
  });
});
