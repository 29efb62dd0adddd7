/** The administration of the secrets service in the console. */
import { join } from 'node:path';
import { temporaryDirectory } from '@keelson/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';

const site = useConsole();

describe('administration', { timeout: PATIENCE_MS }, () => {
  test('shows seal, nodes, replication, leases and the own token at a glance', async () => {
    await site.secrets('sys/mounts/counted', { type: 'pki' });
    await site.secrets('counted/root/generate/internal', { common_name: 'C', key_type: 'ec' });
    await site.secrets('counted/roles/web', { allow_any_name: true, generate_lease: true });
    await site.secrets('counted/issue/web', { common_name: 'a.example', ttl: '1h' });
    const { page, problems } = await site.openSignedIn('/ui/');
    const tile = (title: string) =>
      page.locator('.tile').filter({ has: page.getByRole('heading', { name: title }) });
    await tile('Seal').getByText('unsealed').waitFor();
    await tile('Nodes').getByText('active', { exact: true }).waitFor();
    await tile('Replication').getByText('Performance: disabled').waitFor();
    await tile('Leases').getByText('1', { exact: true }).waitFor();
    await tile('Encryption key').getByText('term 1').waitFor();
    const own = page.locator('.card').filter({ hasText: 'Your token' });
    await own.getByText('root', { exact: true }).first().waitFor();
    expect(problems).toEqual([]);
  });

  test('writes a policy, refuses an invalid one, and shows what a token with it may do', async () => {
    const { page, problems } = await site.openSignedIn('/ui/policies');
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Create policy' }).click();
    await dialog.getByLabel('Name').fill('issuer');
    await dialog.getByLabel('Rules').fill('path "pki/issue/web" { capabilities = ["fly"] }');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('Rules').fill('path "pki/issue/web" { capabilities = ["update"] }');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('link', { name: 'issuer' }).click();
    await page.getByLabel('Rules').fill('path "pki/issue/*" { capabilities = ["update"] }');
    await page.getByRole('button', { name: 'Save' }).click();
    // The policy was saved and read again, so nothing is left to undo.
    await page.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' });
    const { auth } = await site.secrets('auth/token/create', { policies: ['issuer'] });
    await page.getByLabel('Accessor of the token').fill(auth.accessor);
    await page.getByLabel('Path', { exact: true }).fill('pki/issue/mail');
    await page.getByRole('button', { name: 'Ask' }).click();
    await page.getByRole('status').getByText('update', { exact: true }).waitFor();
    await page.getByLabel('Path', { exact: true }).fill('sys/mounts');
    await page.getByRole('button', { name: 'Ask' }).click();
    await page.getByRole('status').getByText('deny', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByLabel('to go on').fill('issuer');
    await dialog.getByRole('button', { name: 'Delete it' }).click();
    await page.getByRole('heading', { level: 1, name: 'Policies' }).waitFor();
    await page.getByRole('link', { name: 'issuer' }).waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  test('completes paths and capabilities of a policy while it is typed', async () => {
    await site.secrets('sys/mounts/completed', { type: 'pki' });
    const { page, problems } = await site.openSignedIn('/ui/policies');
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Create policy' }).click();
    await dialog.getByLabel('Name').fill('typed');
    const rules = dialog.getByLabel('Rules');
    const found = page.waitForResponse((answer) => answer.url().includes('specs/openapi'));
    await rules.fill('');
    await found;
    await page.keyboard.type('pa');
    await dialog.getByRole('option', { name: 'path "…" { capabilities = […] }' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.type('completed/issue/');
    const options = dialog.getByRole('listbox', { name: 'Completions' }).getByRole('option');
    await expect.poll(() => options.allTextContents()).toEqual(['completed/issue/+']);
    await page.keyboard.press('Enter');
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.type('"u');
    await expect.poll(() => options.allTextContents()).toEqual(['update']);
    // Escape closes the completions and leaves the dialog open.
    await page.keyboard.press('Escape');
    await options.first().waitFor({ state: 'detached' });
    await page.keyboard.press('Control+Space');
    await options.first().click();
    await page.keyboard.type('"');
    expect(await rules.inputValue()).toBe(
      'path "completed/issue/+" {\n  capabilities = ["update"]\n}',
    );
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('link', { name: 'typed' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('creates a token, shows it once, and revokes it by its accessor', async () => {
    const { page } = await site.openSignedIn('/ui/tokens');
    await page.getByLabel('Owner or purpose').fill('build');
    await page.getByRole('button', { name: 'Create token' }).click();
    const token = (await page.getByRole('status').locator('code').textContent()) ?? '';
    expect(token).toContain('hvs.');
    await page.getByRole('button', { name: 'Revoke token-build' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke it' }).click();
    await page.getByRole('button', { name: 'Revoke token-build' }).waitFor({ state: 'detached' });
    const answer = await fetch(`${site.origin()}/v1/auth/token/lookup-self`, {
      headers: { 'x-service-token': token },
    });
    expect(answer.status).toBe(403);
  });

  test('says by which rule a token may do something', async () => {
    await site.secrets('sys/policies/acl/wide', {
      policy: 'path "pki/*" { capabilities = ["read"] }',
    });
    await site.secrets('sys/policies/acl/narrow', {
      policy: 'path "pki/issue/+" { capabilities = ["update"] }',
    });
    const { auth } = await site.secrets('auth/token/create', {
      policies: ['wide', 'narrow'],
      no_default_policy: true,
    });
    const { page, problems } = await site.openSignedIn('/ui/policies/wide');
    await page.getByLabel('Accessor of the token').fill(auth.accessor);
    await page.getByLabel('Path', { exact: true }).fill('pki/issue/mail');
    await page.getByRole('button', { name: 'Ask' }).click();
    const rules = page.getByRole('list', { name: 'Rules that cover the path' });
    await rules.getByText('decides').waitFor();
    expect(
      (await rules.getByRole('listitem').allTextContents()).map((text) => text.trim()),
    ).toEqual(['decides: pki/issue/+ of narrow: update', 'pki/* of wide: read']);
    expect(problems).toEqual([]);
  });

  test('creates a namespace, goes into it, and deletes it by its name', async () => {
    const { page, problems } = await site.openSignedIn('/ui/namespaces');
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Create namespace' }).click();
    await dialog.getByLabel('Name').fill('branch');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'branch', exact: true }).click();
    await page.getByText('below branch').waitFor();
    await page.getByLabel('Namespace').selectOption('');
    await page.getByRole('button', { name: 'Delete branch' }).click();
    await dialog.getByLabel('to go on').fill('branch');
    await dialog.getByRole('button', { name: 'Delete it' }).click();
    await page.getByText('There is no namespace below this one.').waitFor();
    expect(problems).toEqual([]);
  });

  test('finds a lease by its path and ends it', async () => {
    await site.secrets('sys/mounts/leasing', { type: 'pki' });
    await site.secrets('leasing/root/generate/internal', { common_name: 'L', key_type: 'ec' });
    await site.secrets('leasing/roles/web', {
      allowed_domains: 'example.com',
      allow_subdomains: true,
      key_type: 'ec',
      generate_lease: true,
    });
    await site.secrets('leasing/issue/web', { common_name: 'a.example.com', ttl: '1h' });
    const { page, problems } = await site.openSignedIn('/ui/leases');
    for (const part of ['leasing/', 'issue/', 'web/'])
      await page.getByRole('button', { name: part, exact: true }).click();
    await page.getByRole('list', { name: 'Leases' }).getByRole('button').click();
    await page.getByRole('button', { name: 'Revoke the lease' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke it' }).click();
    await page.getByText('There is no lease here.').waitFor();
    expect(problems).toEqual([]);
  });

  test('tunes a mount, and removes it only after its name was typed', async () => {
    await site.secrets('sys/mounts/old', { type: 'pki' });
    const { page } = await site.openSignedIn('/ui/mounts');
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Tune old' }).click();
    await dialog.getByLabel('Maximum TTL').fill('86400');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: '1 d', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Remove old' }).click();
    const remove = dialog.getByRole('button', { name: 'Remove it' });
    expect(await remove.isDisabled()).toBe(true);
    await dialog.getByLabel('to go on').fill('old');
    await remove.click();
    await page.getByRole('rowheader', { name: 'old/' }).waitFor({ state: 'detached' });
  });

  test('adds an audit device and removes it', async () => {
    const folder = await temporaryDirectory();
    onTestFinished(() => folder[Symbol.asyncDispose]());
    const { page, problems } = await site.openSignedIn('/ui/audit');
    const dialog = page.getByRole('dialog');
    await page.getByText('there is no audit device').waitFor();
    await page.getByRole('button', { name: 'Add device' }).click();
    await dialog.getByLabel('File on the server').fill(join(folder.path, 'audit.log'));
    await dialog.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('rowheader', { name: 'file/' }).waitFor();
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    const recent = page.getByRole('table', { name: 'Recent requests' });
    // The overview shows the newest few: its own requests displace the one for the devices.
    await recent
      .getByRole('row', { name: /^read / })
      .getByText('200')
      .first()
      .waitFor();
    await page.getByRole('link', { name: 'Audit devices', exact: true }).click();
    await recent
      .getByRole('row', { name: /read sys\/audit/ })
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Remove file/' }).click();
    await dialog.getByRole('button', { name: 'Remove it' }).click();
    await page.getByText('there is no audit device').waitFor();
    await page.getByRole('rowheader', { name: 'file/' }).waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });
});
