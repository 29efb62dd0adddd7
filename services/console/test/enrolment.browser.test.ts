/** EST and the external policy of an authority: switched on, changed, and used as the page says. */
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '@keelson/testkit';
import { describe, expect, test } from 'vitest';
import { confirm } from './confirm.ts';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';

const site = useConsole();
const BRANCH = 'branch';

const addAuthority = async (mount: string, namespace = ''): Promise<string> => {
  await site.secrets(`sys/mounts/${mount}`, { type: 'pki' }, namespace);
  const root = { common_name: `Root of ${mount}`, key_type: 'ec' };
  const { data } = await site.secrets(`${mount}/root/generate/internal`, root, namespace);
  const role = { allow_any_name: true, enforce_hostnames: false, key_type: 'ec', ttl: '24h' };
  await site.secrets(`${mount}/roles/device`, role, namespace);
  return data.certificate;
};

describe('EST', { timeout: PATIENCE_MS }, () => {
  test('is switched on in a namespace, and enrolls a device by the commands of the page', async () => {
    await site.secrets(`sys/namespaces/${BRANCH}`, {});
    await addAuthority('devices', BRANCH);
    const { page, problems } = await site.openSignedIn('/ui/certificates/devices', {
      namespace: BRANCH,
    });
    await page.getByRole('tab', { name: 'EST' }).click();
    await page.getByText('No address is served').waitFor();
    await confirm(page, 'Change EST', 'Save', async (dialog) => {
      await dialog.getByLabel('Devices get certificates by EST').check();
      await dialog.getByLabel(/^Labels/).fill('printers role:device\nsensors sign-verbatim');
      await dialog.getByLabel('Whoever sends a token').check();
    });
    const rows = page.getByRole('table', { name: 'Addresses of EST' }).getByRole('row');
    await rows.filter({ hasText: 'sensors' }).getByText('the request as it is').waitFor();
    await rows
      .filter({ hasText: 'printers' })
      .getByText(`${site.origin()}/.well-known/est/printers`)
      .waitFor();
    expect(await faultsInVariants(page, 'EST')).toEqual({});

    const rules = 'path "devices/roles/device/est/*" { capabilities = ["create", "update"] }';
    await site.secrets('sys/policies/acl/enrolls', { policy: rules }, BRANCH);
    const { auth } = await site.secrets('auth/token/create', { policies: ['enrolls'] }, BRANCH);
    await page.getByRole('button', { name: 'Commands', exact: true }).click();
    const section = page.getByRole('dialog').getByRole('region', { name: 'Addresses for devices' });
    const lines = await section
      .locator('.commands-command')
      .evaluateAll((all: { textContent: string }[]) => all.map(({ textContent }) => textContent));
    const commands = await section.locator('.commands-command code').allTextContents();
    expect(
      lines.some((line) => line.startsWith('estclient') && line.includes('-aps printers')),
    ).toBe(true);
    await using folder = await temporaryDirectory();
    const script = commands.filter((command) => !command.startsWith('estclient')).join('\n');
    await promisify(execFile)('bash', ['-eo', 'pipefail', '-c', script], {
      cwd: folder.path,
      env: { ...process.env, TOKEN: auth.client_token },
    });
    const [authority, device] = await Promise.all(
      ['authority.pem', 'device.pem'].map(
        async (file) => new X509Certificate(await readFile(join(folder.path, file))),
      ),
    );
    expect(device?.subject).toBe('CN=device-1');
    expect(device?.verify((authority as X509Certificate).publicKey)).toBe(true);
    expect(problems).toEqual([]);
  });

  test('says why it is refused, keeps what was typed, and shows 101 labels on pages', async () => {
    await addAuthority('taken');
    await addAuthority('many');
    await site.secrets('taken/config/est', { label_to_path_policy: { cameras: 'sign-verbatim' } });
    const { page } = await site.openSignedIn('/ui/certificates/many?tab=est');
    await page.getByRole('button', { name: 'Change EST' }).click();
    const dialog = page.getByRole('dialog');
    const labels = dialog.getByLabel(/^Labels/);
    await labels.fill('doors');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText('Write a label, a space and its policy').waitFor();
    await labels.fill('cameras role:device');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('the label "cameras" belongs to another mount').waitFor();
    expect(await labels.inputValue()).toBe('cameras role:device');
    const lines = Array.from(
      { length: 101 },
      (_, at) => `l${String(at).padStart(3, '0')} role:device`,
    );
    await labels.fill(lines.join('\n'));
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Page 1 of 3 · 101 in all').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('rowheader', { name: 'l050' }).waitFor();
    const { data } = await site.readSecret('many/config/est');
    expect(Object.keys(data.label_to_path_policy)).toHaveLength(101);
  });

  test('keeps the authentication that somebody else has added meanwhile', async () => {
    await addAuthority('shared');
    const { page } = await site.openSignedIn('/ui/certificates/shared?tab=est');
    await page.getByRole('button', { name: 'Change EST' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Whoever sends a token').check();
    await site.secrets('shared/config/est', {
      authenticators: { cert: { issuers: ['default'] } },
      audit_fields: ['csr', 'key_type'],
    });
    await dialog.getByText('Audit log').click();
    await dialog.getByLabel('size of the key').check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { data } = await site.readSecret('shared/config/est');
    expect(Object.keys(data.authenticators).toSorted()).toEqual(['cert', 'userpass']);
    expect(data.authenticators.cert.issuers).toEqual(['default']);
    expect(data.audit_fields).toEqual(['csr', 'key_type', 'key_bits']);
  });
});

describe('the external policy', { timeout: PATIENCE_MS }, () => {
  test('is switched on, keeps a key that is not shown, and says why the service does not answer', async () => {
    const authority = await addAuthority('decided');
    const { data: client } = await site.secrets('decided/issue/device', { common_name: 'client' });
    const bundle = `${client.certificate}\n${client.private_key}`;
    const { page, problems } = await site.openSignedIn('/ui/certificates/decided?tab=policy');
    const shown = page.getByText('1 certificate', { exact: true });
    await page.getByText('not asked yet').waitFor();
    await confirm(page, 'Change the service', 'Save', async (dialog) => {
      await dialog.getByLabel('The service decides about').check();
      await dialog.getByLabel('Address of the service').fill('https://127.0.0.1:1/decide');
      await dialog.getByLabel('It answers within').fill('2s');
      await dialog.getByLabel('Authorities that its certificate comes from').fill(authority);
      await dialog.getByLabel(/^Certificate and private key shown to it/).fill(bundle);
    });
    await shown.nth(1).waitFor();
    await page
      .getByText(`${site.origin()}/v1/decided/external-policy/issue`, { exact: true })
      .waitFor();
    await confirm(page, 'Change the service', 'Save', async (dialog) => {
      await dialog.getByText('What it learns of the requester').click();
      await dialog.getByLabel(/^About the entity/).fill('@');
    });
    await page.getByText('@', { exact: true }).waitFor();
    const { data } = await site.readSecret('decided/config/external-policy');
    expect(data).toMatchObject({ timeout: 2_000_000_000, entity_jmespath: '@' });
    expect(data.vault_client_cert_bundle_no_keys).toContain('BEGIN CERTIFICATE');

    await site
      .secrets('decided/external-policy/issue', { common_name: 'a.example' })
      .catch(() => 0);
    await page.reload();
    await page.getByText('does not answer').waitFor();
    await page
      .getByText(/ECONNREFUSED|not permitted|refused/)
      .first()
      .waitFor();
    expect(await faultsInVariants(page, 'external policy')).toEqual({});

    await page.getByRole('button', { name: 'Change the service' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/^Certificate and private key shown to it/).fill(bundle);
    await dialog.getByLabel('Show it no certificate any more').check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('but not both').waitFor();
    await dialog.getByLabel(/^Certificate and private key shown to it/).fill('');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { data: after } = await site.readSecret('decided/config/external-policy');
    expect(after.vault_client_cert_bundle_no_keys).toBe('');
    expect(problems).toEqual([]);
  });
});
