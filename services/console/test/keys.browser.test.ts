/** Keys of an authority, in the root and in a namespace: listed, made, imported, renamed, chosen and deleted. */
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { confirm } from './confirm.ts';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';

const site = useConsole();
const BRANCH = 'branch';

const pem = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();

describe('keys of an authority', { timeout: PATIENCE_MS }, () => {
  test('are made, imported, renamed, made the default and deleted, in a namespace', async () => {
    await site.secrets(`sys/namespaces/${BRANCH}`, {});
    await site.secrets('sys/mounts/pki', { type: 'pki' }, BRANCH);
    const root = { common_name: 'Root', key_type: 'ec', key_name: 'of-the-root' };
    await site.secrets('pki/root/generate/internal', root, BRANCH);
    const { page, problems } = await site.openSignedIn('/ui/certificates/pki', {
      namespace: BRANCH,
    });
    const readIssuers: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/pki/issuer/')) readIssuers.push(request.url());
    });
    await page.getByRole('tab', { name: 'Keys' }).click();
    const rows = page.getByRole('table', { name: 'Keys' }).getByRole('row');
    const used = rows.filter({ hasText: 'of-the-root' });
    await used.getByText('default', { exact: true }).waitFor();
    // The list of issuers names them, so that none is read.
    await used.getByRole('link', { name: 'Root', exact: true }).waitFor();
    expect(readIssuers).toEqual([]);
    // An issuer uses it.
    expect(await used.getByRole('button', { name: 'Delete' }).count()).toBe(0);

    await confirm(page, 'Generate a key', 'Generate', async (dialog) => {
      await dialog.getByLabel('Name (optional)').fill('kept');
      await dialog.getByRole('combobox', { name: /^Key/ }).selectOption('ed25519');
    });
    await rows.filter({ hasText: 'kept' }).getByText('Ed25519').waitFor();
    await rows.filter({ hasText: 'kept' }).getByText('no issuer').waitFor();

    await confirm(page, 'Generate a key', 'Generate', async (dialog) => {
      await dialog.getByLabel('Name (optional)').fill('given');
      await dialog.getByRole('combobox', { name: /^Key/ }).selectOption('rsa-2048');
      await dialog.getByLabel('Show the private key once').check();
    });
    const shown = page.getByRole('status', { name: 'New private key' });
    await shown.getByText('PRIVATE KEY').waitFor();
    expect(await faultsInVariants(page, 'keys')).toEqual({});
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download the private key: given-key.pem' }).click();
    const text = await readFile(await (await download).path(), 'utf8');
    expect(createPrivateKey(text).asymmetricKeyDetails?.modulusLength).toBe(2048);

    const imported = pem();
    for (const name of ['moved', 'again'])
      await confirm(page, 'Import a key', 'Import it', async (dialog) => {
        await dialog.getByLabel('Name (optional)').fill(name);
        await dialog.getByLabel('Private key in PEM').fill(imported);
      });
    await rows.filter({ hasText: 'moved' }).waitFor();
    // The second import has changed nothing, which its answer says.
    const notices = page.getByRole('status', { name: 'Notices' });
    await notices.getByText('Key already imported').waitFor();
    expect(await rows.filter({ hasText: 'again' }).count()).toBe(0);

    await confirm(page, 'Rename the key moved', 'Save', (dialog) =>
      dialog.getByLabel('Name').fill('arrived'),
    );
    await rows.filter({ hasText: 'arrived' }).waitFor();
    await confirm(page, 'Make it the default: the key arrived', 'Make it the default');
    await rows.filter({ hasText: 'arrived' }).getByText('default', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Delete the key arrived' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It is the default key').waitFor();
    await dialog.getByLabel('to go on').fill('arrived');
    await dialog.getByRole('button', { name: 'Delete it' }).click();
    await rows.filter({ hasText: 'arrived' }).waitFor({ state: 'detached' });
    await notices.getByText('this was configured as the default key').waitFor();
    expect((await site.readSecret('pki/config/keys', BRANCH)).data.default).toBe('');
    expect(problems).toEqual([]);
  });

  test('are 101 on three pages, by keyboard too', async () => {
    await site.secrets('sys/mounts/many', { type: 'pki' });
    for (let at = 0; at < 101; at += 1)
      await site.secrets('many/keys/generate/internal', {
        key_type: 'ec',
        key_name: `k${String(at).padStart(3, '0')}`,
      });
    const { page, problems } = await site.openSignedIn('/ui/certificates/many?tab=keys');
    const pages = page.getByRole('navigation', { name: 'Pages of the list' });
    await pages.getByText('Page 1 of 3 · 101 in all').waitFor();
    for (const _ of [1, 2]) {
      await pages.getByRole('button', { name: 'Next' }).focus();
      await page.keyboard.press('Enter');
    }
    await page.getByText('k100').waitFor();
    const rename = page.getByRole('button', { name: 'Rename the key k100' });
    await rename.focus();
    await page.keyboard.press('Enter');
    const field = page.getByRole('dialog').getByLabel('Name');
    await field.waitFor();
    await page.keyboard.press('Tab');
    await field.focus();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('last');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Rename the key last' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('are shown to a token that may only list them, and hidden from one that may not', async () => {
    await site.secrets('sys/mounts/narrow', { type: 'pki' });
    const root = { common_name: 'N', key_type: 'ec', key_name: 'seen' };
    await site.secrets('narrow/root/generate/internal', root);
    const tokenOf = async (name: string, policy: string): Promise<string> => {
      await site.secrets(`sys/policies/acl/${name}`, { policy });
      const { auth } = await site.secrets('auth/token/create', { policies: [name] });
      return auth.client_token;
    };
    const lists = await tokenOf('lists', 'path "narrow/keys" { capabilities = ["list"] }');
    const { page } = await site.openSignedIn('/ui/certificates/narrow?tab=keys', {
      secrets: lists,
    });
    await page.getByRole('table', { name: 'Keys' }).getByText('seen').waitFor();
    expect(await page.locator('main .card button:not(.button-small)').count()).toBe(0);
    expect(await page.getByRole('alert').count()).toBe(0);
    const issues = await tokenOf(
      'issues',
      'path "narrow/issue/web" { capabilities = ["update"] } path "narrow/certs/*" { capabilities = ["read", "list"] }',
    );
    const { page: other } = await site.openSignedIn('/ui/certificates/narrow?tab=roles', {
      secrets: issues,
    });
    await other.getByText('cannot be listed with this token').waitFor();
    expect(await other.getByRole('tab').allTextContents()).toEqual(['Certificates', 'Roles']);
  });
});
