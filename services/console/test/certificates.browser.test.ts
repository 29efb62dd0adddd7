/** Certificate authorities in the console: from an empty namespace to a revoked certificate. */
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { AcmeSession } from '@keelson/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { confirm } from './confirm.ts';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';

const site = useConsole();

describe('certificates', { timeout: PATIENCE_MS }, () => {
  test('creates an authority and a role, issues by it, shows the key once, and revokes', async () => {
    const { page, problems } = await site.openSignedIn('/ui/certificates');
    const dialog = page.getByRole('dialog');
    await page.getByText('There is no authority').waitFor();
    await page.getByRole('button', { name: 'Create authority' }).click();
    await dialog.getByLabel('Name of the root').fill('Example Root');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'pki' }).waitFor();
    await page.getByText('There is no role').waitFor();
    await page.getByRole('button', { name: 'Create role' }).click();
    await dialog.getByLabel('Name', { exact: true }).fill('web');
    await dialog.getByLabel('Domains, separated by commas').fill('example.com');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Names below example.com.').waitFor();

    await page.getByRole('button', { name: 'Issue by web' }).click();
    await page.getByLabel('Name of the certificate').fill('www.elsewhere.org');
    await page.getByRole('button', { name: 'Issue the certificate' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('www.elsewhere.org');
    await page.getByLabel('Name of the certificate').fill('www.example.com');
    await page.getByRole('button', { name: 'Issue the certificate' }).click();
    const issued = page.getByRole('status', { name: 'Issued' });
    await issued.getByText('Private key', { exact: true }).click();
    await issued.getByText('PRIVATE KEY').first().waitFor();
    const download = page.waitForEvent('download');
    await issued.getByRole('button', { name: 'Download key: www.example.com-key.pem' }).click();
    expect((await download).suggestedFilename()).toBe('www.example.com-key.pem');
    await page.reload();
    await page.getByRole('button', { name: 'Issue by web' }).waitFor();
    expect(await page.getByText('PRIVATE KEY').count()).toBe(0);

    await page.getByRole('tab', { name: 'Certificates' }).click();
    await page.getByRole('img', { name: /expire within 13 weeks/ }).waitFor();
    await page.getByRole('searchbox', { name: 'Name or serial number' }).fill('www.ex');
    await page.waitForURL((url) => url.searchParams.get('text') === 'www.ex');
    await page.getByRole('link', { name: 'www.example.com' }).click();
    await page.getByRole('button', { name: 'Revoke' }).click();
    await dialog.getByLabel('Reason').selectOption('superseded');
    await dialog.getByRole('button', { name: 'Revoke it' }).click();
    await page.getByText('revoked', { exact: true }).waitFor();
    const list = Buffer.from(await (await fetch(`${site.origin()}/v1/pki/crl`)).arrayBuffer());
    // The reason code 4, "superseded", of the only entry (RFC 5280 §5.3.1).
    expect(list.includes(Buffer.from('0603551d1504030a0104', 'hex'))).toBe(true);
    expect(await page.getByRole('button', { name: 'Revoke' }).count()).toBe(0);
    await page.goto(`${site.origin()}/ui/certificates/pki`);
    const rows = page.getByRole('table', { name: 'Certificates' }).getByRole('row');
    await page.getByRole('img', { name: /^0 certificates expire within 13 weeks/ }).waitFor();
    await rows.filter({ hasText: 'Example Root' }).getByText('valid', { exact: true }).waitFor();
    expect(await rows.filter({ hasText: 'www.example.com' }).count()).toBe(0);
    await page.getByLabel('Certificates that').selectOption('are revoked');
    await rows
      .filter({ hasText: 'www.example.com' })
      .getByText('revoked', { exact: true })
      .waitFor();
    expect(problems).toEqual([]);
  });

  test('shows issuers, makes another the default, and switches ACME on', async () => {
    await site.secrets('sys/mounts/second', { type: 'pki' });
    await site.secrets('second/root/generate/internal', { common_name: 'Old', key_type: 'ec' });
    const { page, problems } = await site.openSignedIn('/ui/certificates/second?tab=issuers');
    const dialog = page.getByRole('dialog');
    await page.getByRole('heading', { name: 'Old' }).waitFor();
    await page.getByRole('button', { name: 'Generate a root' }).click();
    await dialog.getByLabel('Name').fill('New');
    await dialog.getByRole('button', { name: 'Generate' }).click();
    await page.getByRole('heading', { name: 'New', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Make it the default' }).click();
    await dialog.getByRole('button', { name: 'Make it the default' }).click();
    await dialog.waitFor({ state: 'hidden' });

    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Switch it on' }).click();
    await dialog.getByRole('button', { name: 'Switch it on' }).click();
    const directoryLines = page
      .locator('.commands-command')
      .filter({ hasText: '/v1/second/acme/directory' });
    for (const tool of ['certbot', 'lego', 'Caddy', 'cert-manager', 'step'])
      await directoryLines
        .getByRole('button', { name: `Copy the lines for ${tool}`, exact: true })
        .waitFor();
    const directory = await fetch(`${site.origin()}/v1/second/acme/directory`);
    expect(directory.status).toBe(200);
    expect(problems).toEqual([]);
  });

  test('switches ACME on at the address and with the headers that somebody has set', async () => {
    await site.secrets('sys/mounts/fronted', { type: 'pki' });
    const path = 'https://ca.example/v1/fronted';
    await site.secrets('fronted/config/cluster', { path });
    await site.secrets('sys/mounts/fronted/tune', { allowed_response_headers: ['X-Trace'] });
    const { page } = await site.openSignedIn('/ui/certificates/fronted?tab=settings');
    await confirm(page, 'Switch it on', 'Switch it on');
    await page.getByText(`--server ${path}/acme/directory`).first().waitFor();
    const tuned = await site.readSecret('sys/mounts/fronted/tune');
    expect(tuned.data.allowed_response_headers).toEqual([
      'X-Trace',
      'Location',
      'Replay-Nonce',
      'Link',
    ]);
    expect((await site.readSecret('fronted/config/cluster')).data.path).toBe(path);
  });

  test('shows the warnings of an answer until they are dismissed, and that a change was made', async () => {
    await site.secrets('sys/mounts/keyless', { type: 'pki' });
    const root = { common_name: 'With a key', key_type: 'ec' };
    await site.secrets('keyless/root/generate/internal', root);
    await site.secrets('sys/mounts/elsewhere', { type: 'pki' });
    const other = { common_name: 'Without a key', key_type: 'ec' };
    const { data } = await site.secrets('elsewhere/root/generate/internal', other);
    await site.secrets('keyless/issuers/import/cert', { pem_bundle: data.certificate });
    const { page, problems } = await site.openSignedIn('/ui/certificates/keyless?tab=issuers');
    await confirm(page, 'Make it the default: Without a key', 'Make it the default');
    const notices = page.getByRole('status', { name: 'Notices' });
    const warning = notices.getByText('has no key: it cannot issue certificates');
    await warning.waitFor();
    await notices.getByText(/: done\.$/).waitFor();
    expect(await faultsInVariants(page, 'notices')).toEqual({});
    await page.getByRole('link', { name: 'Cluster', exact: true }).click();
    await warning.locator('..').getByRole('button', { name: 'Dismiss' }).click();
    await warning.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  test('shows the commands that switch ACME on, and only the one that switches it off', async () => {
    await site.secrets('sys/mounts/typed', { type: 'pki' });
    const { page, problems } = await site.openSignedIn('/ui/certificates/typed?tab=settings');
    const dialog = page.getByRole('dialog');
    const shownFor = async (button: string): Promise<readonly string[]> => {
      await page.getByRole('button', { name: button }).click();
      await dialog.getByText('As a command').click();
      return dialog.locator('.commands-command code').allTextContents();
    };
    const shown = await shownFor('Switch it on');
    const ofCurl = shown.filter((command) => command.startsWith('curl '));
    expect(shown.filter((command) => command.startsWith('vault '))).toEqual([
      `vault write typed/config/cluster path=${site.origin()}/v1/typed`,
      'vault secrets tune -allowed-response-headers=Location -allowed-response-headers=Replay-Nonce -allowed-response-headers=Link typed',
      'vault write typed/config/acme enabled=true',
    ]);
    await promisify(execFile)('sh', ['-ec', ofCurl.join('\n')], {
      env: { ...process.env, KEELSON_TOKEN: site.rootToken() },
    });
    const headers = { 'x-service-token': site.rootToken() };
    const tune = await fetch(`${site.origin()}/v1/sys/mounts/typed/tune`, { headers });
    expect(await tune.json()).toMatchObject({
      data: { allowed_response_headers: ['Location', 'Replay-Nonce', 'Link'] },
    });
    expect((await fetch(`${site.origin()}/v1/typed/acme/directory`)).status).toBe(200);

    await page.reload();
    const off = await shownFor('Switch it off');
    expect(off.map((command) => command.includes('typed/config/acme'))).toEqual([true, true]);
    expect(problems).toEqual([]);
  });

  test('adds an intermediate signed by another authority, draws the chain, and retires the old issuer', async () => {
    for (const mount of ['top', 'middle']) {
      await site.secrets('sys/mounts/' + mount, {
        type: 'pki',
        config: { max_lease_ttl: '87600h' },
      });
    }
    await site.secrets('top/root/generate/internal', {
      common_name: 'Top',
      key_type: 'ec',
      ttl: '87600h',
    });
    await site.secrets('middle/root/generate/internal', {
      common_name: 'Old',
      key_type: 'ec',
      ttl: '8760h',
    });
    const { data: issuers } = await site.readSecret('middle/config/issuers');
    const retired = `middle/issuer/${issuers.default}`;
    await site.patchSecret(retired, { leaf_not_after_behavior: 'truncate' });
    const { page, problems } = await site.openSignedIn('/ui/certificates/middle?tab=issuers');
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Add an intermediate' }).click();
    await dialog.getByLabel('Name').fill('Middle');
    await dialog.getByRole('button', { name: 'Generate its key' }).click();
    await page.getByRole('combobox', { name: /^Authority that signs/ }).selectOption('top');
    await page
      .getByRole('combobox', { name: /^Its issuer/ })
      .getByText('Top')
      .waitFor({
        state: 'attached',
      });
    await page.getByRole('button', { name: 'Sign and import' }).click();
    await page.getByRole('heading', { level: 1, name: 'Middle' }).waitFor();
    await page.getByRole('link', { name: 'Issuers of middle' }).click();
    await page.getByRole('img', { name: /Middle, signed by Top/ }).waitFor();
    const card = page
      .locator('.card')
      .filter({ has: page.getByRole('heading', { name: 'Middle', exact: true }) });
    await card.getByRole('button', { name: 'Make it the default' }).click();
    await dialog.getByRole('button', { name: 'Make it the default' }).click();
    await page.getByRole('button', { name: 'Stop issuing by it: Old' }).click();
    await dialog.getByRole('button', { name: 'Stop issuing', exact: true }).click();
    await page.getByText('crl-signing, ocsp-signing, read-only').waitFor();
    // Everything else of the issuer stays.
    const { data: kept } = await site.readSecret(retired);
    expect(kept.leaf_not_after_behavior).toBe('truncate');
    await page.getByRole('link', { name: 'Settings of Old' }).click();
    await page.getByRole('button', { name: 'Delete the issuer Old' }).click();
    await dialog.getByLabel('to go on').fill('Old');
    await dialog.getByRole('button', { name: 'Delete it' }).click();
    await page.getByRole('heading', { name: 'Middle', exact: true }).waitFor();
    await page.getByRole('heading', { name: 'Old', exact: true }).waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  test('previews what a role allows, signs a request, and hands out a key store', async () => {
    await site.secrets('sys/mounts/forms', { type: 'pki' });
    await site.secrets('forms/root/generate/internal', { common_name: 'Forms', key_type: 'ec' });
    await site.secrets('forms/roles/sized', { key_type: 'ec', key_bits: 384 });
    const { page, problems } = await site.openSignedIn('/ui/certificates/forms?tab=roles');
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Create role' }).click();
    await dialog.getByLabel('Name', { exact: true }).fill('web');
    await dialog.getByLabel('Domains, separated by commas').fill('example.com');
    const preview = dialog.getByRole('status', { name: 'Preview' });
    await preview.getByText('Names below example.com are allowed.').waitFor();
    await dialog.getByLabel('Try a name').fill('example.com');
    await preview.getByText('refused').waitFor();
    await dialog.getByLabel('the domains themselves').check();
    await preview.getByText('example.com itself is allowed.').waitFor();
    await dialog.getByLabel('Try a name').fill('elsewhere.org');
    await preview.getByText('It is in none of the domains.').waitFor();
    await dialog.getByLabel('any name').check();
    await preview.getByText('Any name is allowed. It is valid for as long as').waitFor();
    await dialog.getByLabel('any name').uncheck();
    await dialog.getByLabel('Try a name').fill('a.example.com');
    await dialog.getByLabel('when a request does not say').fill('36h');
    await preview.getByText('It is valid for 1 d 12 h.').waitFor();
    await dialog.getByLabel('Try a validity').fill('1000h');
    await preview.getByText('It is valid for at most 30 d.').waitFor();
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('Names below example.com.').waitFor();
    await page.getByRole('button', { name: 'Edit web' }).click();
    await dialog.getByLabel('signing code').check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('servers, clients, signing code').waitFor();
    // The size of its keys belongs to their former type.
    await page.getByRole('button', { name: 'Edit sized' }).click();
    await dialog.getByLabel('Key of the certificates').selectOption('rsa');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText(/^rsa/).waitFor();

    await page.getByRole('button', { name: 'Issue by web' }).click();
    await page.getByLabel('Name of the certificate').fill('a.example.com');
    await page.getByRole('combobox', { name: /^Form/ }).selectOption('pkcs12_legacy');
    await page.getByLabel('Password of the key store').fill('a long password');
    await page.getByRole('button', { name: 'Issue the certificate' }).click();
    const issued = page.getByRole('status', { name: 'Issued' });
    const download = page.waitForEvent('download');
    await issued.getByRole('button', { name: 'Download key store: a.example.com.p12' }).click();
    const bytes = await readFile(await (await download).path());
    // An outer SEQUENCE, and the version 3 of RFC 7292.
    expect([bytes[0], bytes.subarray(4, 7).toString('hex')]).toEqual([0x30, '020103']);
    const tripleDes = Buffer.from('2a864886f70d010c0103', 'hex');
    expect(bytes.includes(tripleDes)).toBe(true);

    const made = await site.secrets('forms/intermediate/generate/internal', {
      common_name: 'b.example.com',
      key_type: 'ec',
    });
    await page.getByRole('combobox', { name: /^Form/ }).selectOption('der');
    await page.getByLabel('Name of the certificate').fill('b.example.com');
    await page.getByLabel('Certificate request in PEM').fill(made.data.csr);
    await page.getByRole('button', { name: 'Sign the request' }).click();
    const certificate = page.waitForEvent('download');
    await issued.getByRole('button', { name: 'Download certificate: b.example.com.cer' }).click();
    const der = await readFile(await (await certificate).path());
    expect(new X509Certificate(der).subject).toContain('b.example.com');
    expect(problems).toEqual([]);
  });

  test('searches certificates by name, serial number and expiry, further than one page', async () => {
    await site.secrets('sys/mounts/many', { type: 'pki' });
    await site.secrets('many/root/generate/internal', { common_name: 'Many', key_type: 'ec' });
    await site.secrets('many/roles/web', { allow_any_name: true, key_type: 'ec' });
    const issue = (name: string, ttl: string) =>
      site.secrets('many/issue/web', { common_name: name, ttl });
    for (let at = 0; at < 1000; at += 20)
      await Promise.all(
        Array.from({ length: 20 }, (_, more) => issue(`n${at + more}.example`, '2h')),
      );
    const { data: late } = await issue('late.example', '400h');
    const { page, problems } = await site.openSignedIn('/ui/certificates/many');
    const rows = page.getByRole('table', { name: 'Certificates' }).getByRole('rowheader');
    const looked = page.getByText('1,000 certificates looked at');
    await looked.waitFor();
    await page.getByText('Page 1 of 20 · 1,000 in all').waitFor();
    const search = page.getByRole('searchbox', { name: 'Name or serial number' });
    // A search goes on by itself until it has found enough or seen all.
    await search.fill('late.ex');
    await expect.poll(() => rows.allTextContents()).toEqual(['late.example']);
    await looked.waitFor({ state: 'detached' });
    await search.fill(late.serial_number.replaceAll(':', ''));
    await expect.poll(() => rows.allTextContents()).toEqual(['late.example']);
    await search.fill('');
    await page.getByLabel('Certificates that').selectOption('expire within a week');
    await page.waitForURL((url) => url.searchParams.get('expiry') === 'week');
    await page.getByText('Page 1 of 20 · 1,000 in all').waitFor();
    await page
      .getByRole('img', { name: /^1,002 certificates expire within 13 weeks, 1,000 / })
      .waitFor();
    await page.getByRole('button', { name: 'Read 1,000 more' }).click();
    await looked.waitFor({ state: 'detached' });
    // The search over everything knows a serial number behind the first page.
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill(late.serial_number);
    await page.getByRole('option', { name: new RegExp(`^${late.serial_number}`) }).click();
    await page.getByRole('heading', { level: 1, name: 'late.example' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('takes a certificate apart into its extensions', async () => {
    await site.secrets('sys/mounts/parts', { type: 'pki' });
    await site.secrets('parts/root/generate/internal', { common_name: 'Parts', key_type: 'ec' });
    await site.secrets('parts/config/urls', {
      issuing_certificates: 'http://ca.example/ca',
      crl_distribution_points: 'http://ca.example/crl',
      ocsp_servers: 'http://ca.example/ocsp',
    });
    await site.secrets('parts/roles/web', {
      allowed_domains: 'example.com',
      allow_subdomains: true,
      key_type: 'ec',
      policy_identifiers: ['1.3.6.1.4.1.99999.1'],
      basic_constraints_valid_for_non_ca: true,
    });
    const { data } = await site.secrets('parts/issue/web', {
      common_name: 'a.example.com',
      ttl: '24h',
    });
    const { page, problems } = await site.openSignedIn(
      `/ui/certificates/parts/certificate/${data.serial_number}`,
    );
    await page.getByText('dns: a.example.com').waitFor();
    for (const text of ['digital signature', 'servers (TLS)', 'not an authority'])
      await page.getByText(text, { exact: true }).waitFor();
    for (const text of ['ca.example/ca', 'ca.example/crl', 'ca.example/ocsp', '99999.1'])
      await page.getByText(text).waitFor();
    const card = page
      .locator('.card')
      .filter({ has: page.getByRole('heading', { name: 'Extensions' }) });
    expect((await card.locator('dt').allTextContents()).toSorted()).toEqual([
      'Authority key identifier',
      'Basic constraints',
      'Certificate policies',
      'Extended key usage',
      'Key usage',
      'Revocation lists',
      'Subject alternative names',
      'Subject key identifier',
      'Where its issuer answers',
    ]);
    expect(problems).toEqual([]);
  });

  test('makes a revocation list, tidies, and makes keys for ACME accounts', async () => {
    await site.secrets('sys/mounts/upkeep', { type: 'pki' });
    await site.secrets('upkeep/root/generate/internal', { common_name: 'Upkeep', key_type: 'ec' });
    await site.secrets('upkeep/config/cluster', { path: `${site.origin()}/v1/upkeep` });
    await site.secrets('upkeep/config/acme', { enabled: true });
    const { page, problems } = await site.openSignedIn('/ui/certificates/upkeep?tab=settings');
    const dialog = page.getByRole('dialog');
    await page.getByText('0 certificates').waitFor();
    await page.getByRole('button', { name: 'Change the rules' }).click();
    await dialog.getByLabel('A list is valid for').fill('48h');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('48h', { exact: true }).waitFor();
    const answersOcsp = async (is: boolean): Promise<void> => {
      await page.getByRole('button', { name: 'Change the rules' }).click();
      await dialog.getByLabel('Answer OCSP requests').setChecked(is);
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.getByText(is ? 'OCSP' : 'no OCSP', { exact: true }).waitFor();
    };
    await page.getByText('OCSP', { exact: true }).waitFor();
    await answersOcsp(false);
    await answersOcsp(true);
    await page.getByRole('button', { name: 'Rebuild the list' }).click();
    await dialog.getByRole('button', { name: 'Create it' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Tidy now' }).click();
    await dialog.getByRole('button', { name: 'Tidy', exact: true }).click();
    await page.getByText('Finished', { exact: true }).first().waitFor();
    await page.getByText('not switched on').waitFor();
    await page.getByRole('button', { name: 'Tidy at intervals' }).click();
    await dialog.getByLabel('Switched on').check();
    await dialog.getByLabel('expired certificates').check();
    await dialog.getByLabel('Every').fill('6h');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('every 6 h').waitFor();
    await page.getByRole('button', { name: 'Change the intervals' }).click();
    await dialog.getByLabel('Switched on').uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('not switched on').waitFor();
    await page.getByRole('button', { name: 'Use the addresses of this server' }).click();
    await dialog.getByText('As a command').click();
    for (const name of ['issuing_certificates', 'crl_distribution_points', 'ocsp_servers'])
      await dialog.getByText(new RegExp(`vault write upkeep/config/urls .*${name}=`)).waitFor();
    await dialog.getByRole('button', { name: 'Use them' }).click();
    await page.getByText('/v1/upkeep/ca', { exact: false }).first().waitFor();
    await page.getByRole('button', { name: 'Create a key', exact: true }).click();
    await dialog.getByRole('button', { name: 'Create it' }).click();
    const id =
      (await page.getByRole('status', { name: 'New key' }).locator('code').first().textContent()) ??
      '';
    await page.getByRole('button', { name: `Delete the key ${id}` }).click();
    await dialog.getByRole('button', { name: 'Delete it' }).click();
    await page.getByText('There is no unused key').waitFor();
    await page.getByRole('button', { name: 'Change when they are required' }).click();
    await dialog.getByLabel('Rule').selectOption('not-required');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('At present accounts need no key.').waitFor();
    expect(problems).toEqual([]);
  });

  test('shows accounts and orders of ACME clients, closes an account and opens it again', async () => {
    await site.secrets('sys/mounts/clients', { type: 'pki' });
    await site.secrets('clients/root/generate/internal', { common_name: 'C', key_type: 'ec' });
    await site.secrets('clients/config/cluster', { path: `${site.origin()}/v1/clients` });
    await site.secrets('clients/config/acme', { enabled: true });
    const directory = `${site.origin()}/v1/clients/acme/directory`;
    const client = await AcmeSession.open({ directory, connections: 1 });
    onTestFinished(() => client.close());
    const order = () =>
      client.post('newOrder', { identifiers: [{ type: 'dns', value: 'www.example.com' }] });
    await order();
    const { page, problems } = await site.openSignedIn('/ui/certificates/clients?tab=settings');
    const account = page.getByRole('table', { name: 'ACME accounts' }).getByRole('row').nth(1);
    await account.getByText('valid', { exact: true }).waitFor();
    await account.getByRole('button', { name: 'Show orders' }).click();
    const orders = page.getByRole('table', { name: 'Orders' });
    await orders
      .getByRole('row', { name: /www\.example\.com/ })
      .getByText('pending')
      .waitFor();
    const dialog = page.getByRole('dialog');
    await account.getByRole('button', { name: 'Close' }).click();
    await dialog.getByRole('button', { name: 'Close it' }).click();
    await account.getByText('revoked').waitFor();
    await expect(order()).rejects.toThrow('the account is revoked');
    await account.getByRole('button', { name: 'Open again' }).click();
    await dialog.getByRole('button', { name: 'Open it' }).click();
    await account.getByText('valid', { exact: true }).waitFor();
    expect((await order()).status).toBe(201);
    expect(problems).toEqual([]);
  });
});
