/** Several certificates are revoked at once, and a list is saved as a file. */
import { readFile } from 'node:fs/promises';
import type { Page } from '@keelson/testkit/chromium';
import { beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';

const site = useConsole();
const NAMESPACE = 'issuing';

const post = (path: string, body: object) => site.secrets(path, body, NAMESPACE);

const addAuthority = async (mount: string): Promise<void> => {
  await post(`sys/mounts/${mount}`, { type: 'pki' });
  await post(`${mount}/root/generate/internal`, {
    common_name: `Root of ${mount}`,
    key_type: 'ec',
  });
  await post(`${mount}/roles/any`, {
    allow_any_name: true,
    enforce_hostnames: false,
    key_type: 'ec',
  });
};

const issue = async (mount: string, name: string, ttl = '24h'): Promise<string> =>
  (await post(`${mount}/issue/any`, { common_name: name, ttl })).data.serial_number;

const revokedAt = async (mount: string, serial: string): Promise<number> =>
  (await site.readSecret(`${mount}/cert/${serial}`, NAMESPACE)).data.revocation_time;

const select = (page: Page, name: string): Promise<void> =>
  page.getByRole('checkbox', { name: new RegExp(`^Select ${name}, `) }).check();

const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('region', { name: 'Selected' }).getByRole('button', { name, exact: true }).click();

const lineOf = (page: Page, name: string) =>
  page
    .getByRole('dialog')
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader', { name, exact: true }) });

beforeAll(() => site.secrets(`sys/namespaces/${NAMESPACE}`, {}), PATIENCE_MS);

describe('certificates', { timeout: PATIENCE_MS }, () => {
  test('are revoked together, after what breaks was shown, and what is refused', async () => {
    await addAuthority('together');
    const web = await issue('together', 'web.example');
    const shop = await issue('together', 'shop.example');
    const kept = await issue('together', 'kept.example');
    await post('sys/mounts/below', { type: 'pki' });
    const asked = await post('below/intermediate/generate/internal', {
      common_name: 'Below',
      key_type: 'ec',
    });
    const below = await post('together/root/sign-intermediate', {
      csr: asked.data.csr,
      common_name: 'Below',
    });
    const { page, problems } = await site.openSignedIn('/ui/certificates/together', {
      namespace: NAMESPACE,
    });
    await page.getByRole('checkbox', { name: 'Select all of this page' }).check();
    await page.getByRole('checkbox', { name: /^Select kept.example, / }).uncheck();
    // Somebody else revokes this one after it was listed.
    await post('together/revoke', { serial_number: shop });
    await press(page, 'Revoke');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('2 to change, 1 unchanged, 1 refused.').waitFor();
    await lineOf(page, 'Root of together').getByText('refused').waitFor();
    await lineOf(page, 'shop.example').getByText(`${shop} is revoked already.`).waitFor();
    await lineOf(page, 'web.example').getByText('It is for web.example.').waitFor();
    await lineOf(page, 'web.example').getByText(web).waitFor();
    await lineOf(page, 'Below').getByText('everything below it breaks with it').waitFor();
    expect(await faultsInVariants(page, 'revoke several')).toEqual({});
    const button = dialog.getByRole('button', { name: 'Revoke 2 certificates' });
    expect(await button.isDisabled()).toBe(true);
    await dialog.getByLabel('Type together to go on').fill('together');
    await dialog.getByLabel('Reason').selectOption('superseded');
    await button.click();
    await dialog.getByText('2 of 2: 2 done.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('link', { name: 'web.example' }).waitFor({ state: 'detached' });
    for (const serial of [web, below.data.serial_number])
      expect(await revokedAt('together', serial)).toBeGreaterThan(0);
    expect(await revokedAt('together', kept)).toBe(0);
    expect(problems).toEqual([]);
  });

  test('101 are revoked, all that the search finds, and the results stay when none is left', async () => {
    await addAuthority('many');
    for (let at = 0; at < 101; at += 1) await issue('many', `host-${at}.example`);
    const { page, problems } = await site.openSignedIn('/ui/certificates/many?text=host', {
      namespace: NAMESPACE,
    });
    // Certificates that expire in the same second are in no certain order.
    await page
      .getByRole('checkbox', { name: /^Select host-/ })
      .first()
      .check();
    await page.getByRole('button', { name: 'Select all 101' }).click();
    await press(page, 'Revoke');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Type many to go on').fill('many');
    await dialog.getByRole('button', { name: 'Revoke 101 certificates' }).click();
    await dialog.getByText('101 of 101: 101 done.').waitFor();
    await page.getByText('No certificate is selected by this search.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByLabel('Certificates that').selectOption('are revoked');
    await page.getByText('101 certificates, those that expire first').waitFor();
    expect(problems).toEqual([]);
  });

  test('are not revoked any more once the token was revoked', async () => {
    await addAuthority('ended');
    const serials = [];
    for (const name of ['a.example', 'b.example', 'c.example'])
      serials.push(await issue('ended', name));
    await post('sys/policies/acl/revokes', {
      policy: 'path "ended/*" { capabilities = ["read", "list", "update"] }',
    });
    const { auth } = await post('auth/token/create', { policies: ['revokes'] });
    const { page } = await site.openSignedIn('/ui/certificates/ended', {
      namespace: NAMESPACE,
      secrets: auth.client_token,
    });
    for (const name of ['a.example', 'b.example', 'c.example']) await select(page, name);
    await press(page, 'Revoke');
    let sent = 0;
    await page.route('**/ended/revoke', async (route) => {
      sent += 1;
      if (sent === 2) await post('auth/token/revoke', { token: auth.client_token });
      await route.continue();
    });
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke 3 certificates' }).click();
    await page.getByText(/Revoke: 1 done, 1 failed, 1 not attempted\. Not done: /).waitFor();
    expect(sent).toBe(2);
    const times = await Promise.all(serials.map((serial) => revokedAt('ended', serial)));
    expect(times.filter((time) => time > 0)).toHaveLength(1);
  });

  test('are exported as the list selects them, and as no formulas', async () => {
    await addAuthority('exported');
    await issue('exported', '=1+1"x", <b>');
    const gone = await issue('exported', 'gone.example');
    await post('exported/revoke', { serial_number: gone });
    await post('sys/policies/acl/lists', {
      policy: 'path "exported/*" { capabilities = ["read", "list"] }',
    });
    const { auth } = await post('auth/token/create', { policies: ['lists'] });
    const { page, problems } = await site.openSignedIn('/ui/certificates/exported', {
      namespace: NAMESPACE,
      secrets: auth.client_token,
    });
    const save = async (format: string): Promise<string> => {
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: `Export as ${format}` }).click();
      const file = await download;
      expect(file.suggestedFilename()).toBe(`certificates-of-exported.${format.toLowerCase()}`);
      return readFile(await file.path(), 'utf8');
    };
    await page.getByText('2 certificates, those that expire first').waitFor();
    // Whoever may only read selects nothing.
    expect(await page.getByRole('checkbox').count()).toBe(0);
    const csv = await save('CSV');
    const [head, ...lines] = csv.trimEnd().split('\r\n');
    expect(head).toBe(
      'serial_number,common_name,dns_names,issuer,key_type,key_bits,not_before,not_after,state',
    );
    expect(lines).toHaveLength(2);
    expect(csv).toContain(`,"'=1+1""x"", <b>",`);
    expect(csv).not.toContain('gone.example');
    await page.getByLabel('Certificates that').selectOption('are revoked');
    await page.getByRole('link', { name: 'gone.example' }).waitFor();
    expect(JSON.parse(await save('JSON'))).toMatchObject([
      { serial_number: gone, common_name: 'gone.example', state: 'revoked' },
    ]);
    expect(problems).toEqual([]);
  });
});
