/** One issuer in the console: its settings, its addresses and its end; and a key that gets a certificate. */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import {
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { describe, expect, test } from 'vitest';
import { confirm } from './confirm.ts';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';

const site = useConsole();
const BRANCH = 'branch';
const TEN_YEARS = '87600h';

const addAuthority = async (mount: string, namespace = ''): Promise<void> => {
  const config = { max_lease_ttl: TEN_YEARS };
  await site.secrets(`sys/mounts/${mount}`, { type: 'pki', config }, namespace);
};

/** @returns the id of the issuer */
const addRoot = async (
  mount: string,
  name: string,
  namespace = '',
  parameters: object = {},
): Promise<string> => {
  const body = { common_name: name, key_type: 'ec', ttl: TEN_YEARS, ...parameters };
  const { data } = await site.secrets(`${mount}/issuers/generate/root/internal`, body, namespace);
  return data.issuer_id;
};

const tokenOf = async (name: string, policy: string): Promise<string> => {
  await site.secrets(`sys/policies/acl/${name}`, { policy });
  const { auth } = await site.secrets('auth/token/create', { policies: [name] });
  return auth.client_token;
};

/** Certificates of roots that are not made here, in PEM. */
const selfSigned = async (count: number): Promise<string> => {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const made = Array.from({ length: count }, (_, at) =>
    X509CertificateGenerator.createSelfSigned({
      name: `CN=Root ${at}`,
      serialNumber: (at + 1).toString(16).padStart(4, '0'),
      notBefore: new Date(Date.now() - 60_000),
      notAfter: new Date(Date.now() + 86_400_000),
      keys,
      signingAlgorithm: algorithm,
      extensions: [
        new BasicConstraintsExtension(true, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      ],
    }),
  );
  return (await Promise.all(made)).map((one) => one.toString('pem')).join('\n');
};

describe('an issuer', { timeout: PATIENCE_MS }, () => {
  test('has settings and addresses of its own, and signs an authority elsewhere, in a namespace', async () => {
    await site.secrets(`sys/namespaces/${BRANCH}`, {});
    await addAuthority('own', BRANCH);
    const id = await addRoot('own', 'Own Root', BRANCH);
    const { page, problems } = await site.openSignedIn('/ui/certificates/own?tab=issuers', {
      namespace: BRANCH,
    });
    await page.getByRole('link', { name: 'Settings of Own Root' }).click();
    await page.getByRole('heading', { level: 1, name: 'Own Root' }).waitFor();
    await confirm(page, 'Change the settings', 'Save', async (dialog) => {
      await dialog.getByRole('textbox', { name: 'Name' }).fill('first');
      await dialog.getByRole('combobox', { name: /outlive/ }).selectOption('truncate');
      await dialog.getByRole('combobox', { name: /Signature/ }).selectOption('ECDSAWithSHA512');
      await dialog.getByLabel('signing OCSP answers').uncheck();
      await dialog.getByText('Chain and checks').click();
      await dialog.getByLabel('name constraints').check();
    });
    await page.getByText('are shortened to its validity').waitFor();
    await confirm(page, 'Change its addresses', 'Save', async (dialog) => {
      await dialog
        .getByLabel(/^Revocation list/)
        .fill('http://ca.example/{{issuer_id}}.crl\nhttp://cb.example/list.crl');
      await dialog.getByLabel('Parts in double braces').check();
    });
    await page.getByText('http://cb.example/list.crl').waitFor();
    expect((await site.readSecret(`own/issuer/${id}`, BRANCH)).data).toMatchObject({
      issuer_name: 'first',
      leaf_not_after_behavior: 'truncate',
      revocation_signature_algorithm: 'ECDSAWithSHA512',
      usage: 'crl-signing,issuing-certificates,read-only',
      disable_name_constraint_checks: true,
      disable_path_length_checks: false,
      crl_distribution_points: [
        'http://ca.example/{{issuer_id}}.crl',
        'http://cb.example/list.crl',
      ],
      enable_aia_url_templating: true,
    });

    await addAuthority('below', BRANCH);
    const request = { common_name: 'Below', organization: 'Example', key_type: 'ec' };
    const made = await site.secrets('below/intermediate/generate/internal', request, BRANCH);
    await confirm(page, 'Sign a certificate request', 'Sign it', async (dialog) => {
      await dialog.getByLabel('Certificate request in PEM').fill(made.data.csr);
      await dialog.getByLabel(/^Authorities that may follow/).fill('0');
    });
    await page.getByRole('status', { name: 'Signed' }).waitFor();
    expect(await faultsInVariants(page, 'issuer')).toEqual({});
    expect(problems).toEqual([]);
  });

  test('is revoked and deleted after what breaks was shown', async () => {
    await addAuthority('ended');
    const id = await addRoot('ended', 'First', '', { issuer_name: 'first' });
    const next = await addRoot('ended', 'Second');
    for (const [name, issuer] of [
      ['web', 'default'],
      ['mail', 'first'],
      ['other', next],
    ])
      await site.secrets(`ended/roles/${name}`, { allow_any_name: true, issuer_ref: issuer });
    const { page, problems } = await site.openSignedIn(`/ui/certificates/ended/issuer/${id}`);
    const dialog = page.getByRole('dialog');
    const broken = dialog.getByRole('list', { name: 'What breaks' });
    await page.getByRole('button', { name: 'Revoke the issuer First' }).click();
    await broken.getByText('until another issuer takes its place: mail, web.').waitFor();
    await broken.getByText('It is the default').waitFor();
    expect(await faultsInVariants(page, 'end of an issuer')).toEqual({});
    await dialog.getByLabel('Reason').selectOption('superseded');
    await dialog.getByLabel('to go on').fill('First');
    await dialog.getByRole('button', { name: 'Revoke it' }).click();
    await page.getByText('revoked', { exact: true }).waitFor();
    const notices = page.getByRole('status', { name: 'Notices' });
    await notices.getByText('the default issuer was revoked').waitFor();
    expect(await page.getByRole('button', { name: 'Revoke the issuer First' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Delete the issuer First' }).click();
    await dialog.getByLabel('to go on').fill('First');
    await dialog.getByRole('button', { name: 'Delete it' }).click();
    await page.getByRole('heading', { name: 'Second', exact: true }).waitFor();
    await notices.getByText('this was configured as the default issuer').waitFor();
    expect(problems).toEqual([]);
  });

  test('becomes the default after it was shown what will happen', async () => {
    await addAuthority('shown');
    const address = `${site.origin()}/v1/shown/crl`;
    await site.secrets('shown/config/urls', { crl_distribution_points: [address] });
    await addRoot('shown', 'Former', '', { issuer_name: 'former' });
    const next = await addRoot('shown', 'Next', '', { key_bits: 384 });
    await site.secrets('shown/roles/web', { allow_any_name: true });
    await site.secrets('shown/roles/mail', { allow_any_name: true, issuer_ref: 'former' });
    const { page, problems } = await site.openSignedIn('/ui/certificates/shown?tab=issuers');
    await page.getByRole('button', { name: 'Make it the default: Next' }).click();
    const happens = page.getByRole('dialog').getByRole('list', { name: 'What will happen' });
    for (const text of [
      'Roles that issue by it from then on: web.',
      'mail (former)',
      'Clients that trust CN=Former and not CN=Next refuse what it issues.',
      'Certificates are signed by ECDSA P-384 in place of ECDSA P-256.',
      `${address} becomes the list of Next.`,
    ])
      await happens.getByText(text).waitFor();
    expect(await faultsInVariants(page, 'rotation before')).toEqual({});
    await page.getByRole('dialog').getByRole('button', { name: 'Make it the default' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await site.readSecret('shown/config/issuers')).data.default).toBe(next);
    expect(problems).toEqual([]);
  });

  test('is one of 101, on pages', async () => {
    await addAuthority('many');
    await site.secrets('many/issuers/import/bundle', { pem_bundle: await selfSigned(101) });
    const { page, problems } = await site.openSignedIn('/ui/certificates/many?tab=issuers');
    const pages = page.getByRole('navigation', { name: 'Pages of the list' });
    await pages.getByText('Page 1 of 6 · 101 in all').waitFor();
    const shown = page.getByRole('link', { name: /^Settings of/ });
    await expect.poll(() => shown.count()).toBe(20);
    for (let at = 0; at < 5; at += 1) await pages.getByRole('button', { name: 'Next' }).click();
    await expect.poll(() => shown.count()).toBe(1);
    expect(problems).toEqual([]);
  });

  test('is read and not changed by a token that may only read', async () => {
    await addAuthority('seen');
    const id = await addRoot('seen', 'Seen');
    const token = await tokenOf('sees', 'path "seen/*" { capabilities = ["read", "list"] }');
    const { page, problems } = await site.openSignedIn(`/ui/certificates/seen/issuer/${id}`, {
      secrets: token,
    });
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    const names = await page
      .locator('main button')
      .evaluateAll((all: { textContent: string }[]) => all.map(({ textContent }) => textContent));
    expect(names.filter((name) => !/^(Commands$|Download|Copy)/.test(name))).toEqual([]);
    await page.goto(`${site.origin()}/ui/certificates/seen/certify`);
    await page
      .getByText('This token may not have the key certified')
      .or(page.getByText('no other issuer that can sign'))
      .first()
      .waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(problems).toEqual([]);
  });
});

describe('a key that gets a certificate', { timeout: PATIENCE_MS }, () => {
  test('is signed by an authority of the namespace and imported, by keyboard alone', async () => {
    await site.secrets('sys/namespaces/leaf', {});
    await addAuthority('top', 'leaf');
    await addRoot('top', 'Top', 'leaf');
    await addAuthority('middle', 'leaf');
    const { page, problems } = await site.openSignedIn('/ui/certificates/middle?tab=issuers', {
      namespace: 'leaf',
    });
    const press = async (name: string): Promise<void> => {
      await page.getByRole('button', { name, exact: true }).focus();
      await page.keyboard.press('Enter');
    };
    await press('Add an intermediate');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').focus();
    await page.keyboard.type('Middle');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Certify a key' }).waitFor();
    const signer = page.getByRole('combobox', { name: /^Authority that signs/ });
    await signer.getByText('top', { exact: true }).waitFor({ state: 'attached' });
    await signer.focus();
    await page.keyboard.type('top');
    await page.getByText(', the default').last().waitFor({ state: 'attached' });
    await page.waitForURL((url) => url.searchParams.get('signer') === 'top');
    expect(await faultsInVariants(page, 'certify a key')).toEqual({});
    await expect
      .poll(() => page.getByRole('button', { name: 'Sign and import' }).isEnabled())
      .toBe(true);
    await press('Sign and import');
    await page.getByRole('heading', { level: 1, name: 'Middle' }).waitFor();
    await page.getByText('CN=Top').waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Signed and imported' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('goes on after a reload from what the signer has signed', async () => {
    await addAuthority('signer');
    await addRoot('signer', 'Signer');
    await addAuthority('waiting');
    const { data } = await site.secrets('waiting/intermediate/generate/internal', {
      common_name: 'Waiting',
      key_type: 'ec',
    });
    const { page } = await site.openSignedIn(
      `/ui/certificates/waiting/certify?key=${data.key_id}&name=Waiting&signer=signer`,
    );
    // The import fails once: the certificate is signed by then.
    let failures = 0;
    await page.route('**/v1/waiting/intermediate/set-signed', (route) => {
      failures += 1;
      return failures === 1
        ? route.fulfill({ status: 503, json: { errors: ['the seal is closed'] } })
        : route.fallback();
    });
    await page.getByRole('button', { name: 'Sign and import' }).click();
    await page.getByRole('heading', { name: 'Signed, and not imported yet' }).waitFor();
    await page.getByRole('alert').getByText('the seal is closed').waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Signed, and not imported yet' }).waitFor();
    expect(await faultsInVariants(page, 'signed and not imported')).toEqual({});
    await page.getByRole('button', { name: 'Import the certificate' }).click();
    await page.getByRole('heading', { level: 1, name: 'Waiting' }).waitFor();
    const signed = await site.readSecret('signer/certs/detailed?list=true');
    expect(Object.keys(signed.data.key_info)).toHaveLength(2);
  });

  test('has a second certificate with the same subject, by the former root', async () => {
    await addAuthority('rotated');
    const parameters = { organization: 'Example' };
    const old = await addRoot('rotated', 'Before', '', parameters);
    const next = await addRoot('rotated', 'After', '', parameters);
    const { data } = await site.readSecret(`rotated/issuer/${next}`);
    const { page, problems } = await site.openSignedIn('/ui/certificates/rotated?tab=issuers');
    await page.getByRole('link', { name: 'Cross-sign' }).click();
    await page.getByRole('combobox', { name: /^Key that gets/ }).selectOption(data.key_id);
    await page.getByText('The new certificate has the same subject').waitFor();
    await page.getByRole('combobox', { name: /^Its issuer/ }).selectOption(old);
    await page.getByRole('button', { name: 'Sign and import' }).click();
    await page.getByRole('heading', { level: 1, name: 'After' }).waitFor();
    const { data: first } = await site.readSecret(`rotated/issuer/${old}`);
    const { data: chain } = await site.readSecret(`rotated/issuer/${next}/json`);
    const crossed = (chain.ca_chain as readonly string[]).map((pem) => new X509Certificate(pem));
    expect(
      crossed.filter(
        (one) =>
          one.subject.includes('CN=After') &&
          one.verify(new X509Certificate(first.certificate).publicKey),
      ),
    ).toHaveLength(1);
    expect(problems).toEqual([]);
  });

  test('is signed by an authority elsewhere, which gets the request', async () => {
    await addAuthority('inside');
    await addAuthority('outside');
    await addRoot('outside', 'Outside');
    await site.secrets('inside/keys/generate/internal', { key_type: 'ec', key_name: 'ours' });
    const { page, problems } = await site.openSignedIn('/ui/certificates/inside?tab=keys');
    await page.getByRole('link', { name: 'Have it certified' }).click();
    await page.getByLabel('Name of the authority').fill('Inside');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download the request' }).click();
    const csr = await readFile(await (await download).path(), 'utf8');
    const { data } = await site.secrets('outside/root/sign-intermediate', {
      csr,
      use_csr_values: true,
      ttl: '1000h',
    });
    await confirm(page, 'Import a signed certificate', 'Import it', (dialog) =>
      dialog.getByLabel('Certificate and its chain').fill(data.certificate),
    );
    await page.goto(`${site.origin()}/ui/certificates/inside?tab=issuers`);
    await page.getByRole('heading', { name: 'Inside', exact: true }).waitFor();
    expect(problems).toEqual([]);
  });
});
