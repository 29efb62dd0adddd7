/** The forms of keys, issuers, EST and the external policy: each stores the field that was changed, and nothing else. */
import { beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { type EditedThing, expectOneFieldToChange } from './edit-walk.ts';
import { faultsInVariants } from './page-faults.ts';

const site = useConsole();
const BRANCH = 'branch';

/** Roots of the authorities, by their namespace: certificate and id. */
const rootPem = new Map<string, string>();
const rootId = new Map<string, string>();

const fillNamespace = async (namespace: string): Promise<void> => {
  await site.secrets('sys/mounts/pki', { type: 'pki' }, namespace);
  const root = { common_name: 'Root', key_type: 'ec', key_name: 'signing' };
  const { data } = await site.secrets('pki/root/generate/internal', root, namespace);
  rootPem.set(namespace, data.certificate);
  rootId.set(namespace, data.issuer_id);
  await site.secrets('pki/roles/web', { allow_any_name: true }, namespace);
  await site.secrets('pki/roles/mail', { allow_any_name: true }, namespace);
  await site.secrets('pki/config/cluster', { path: `${site.origin()}/v1/pki` }, namespace);
  await site.secrets('pki/config/acme', { enabled: true }, namespace);
};

const thingsOf = (namespace: string): readonly EditedThing[] => [
  {
    form: 'cluster-addresses',
    at: '/ui/certificates/pki?tab=settings',
    button: "Change the cluster's addresses",
    path: 'v1/pki/config/cluster',
    field: 'For whoever fetches certificates and lists',
    values: ['', 'https://a.example/v1/pki', 'https://b.example/v1/pki'],
    stored: (address) => ({ aia_path: address }),
    meanwhile: { path: 'https://c.example/v1/pki' },
  },
  {
    form: 'acme-rules',
    at: '/ui/certificates/pki?tab=settings',
    button: 'Change what clients get',
    path: 'v1/pki/config/acme',
    field: /^Roles that an address may name/,
    values: ['*', 'web', 'mail'],
    stored: (role) => ({ allowed_roles: [role] }),
    meanwhile: {
      eab_policy: 'always-required',
      max_ttl: 7200,
      challenge_excluded_ip_ranges: ['10.0.0.0/8'],
    },
  },
  {
    form: 'default-issuer',
    at: '/ui/certificates/pki?tab=issuers',
    button: 'Change how the default follows',
    path: 'v1/pki/config/issuers',
    field: 'The newest issuer with a key becomes the default',
    values: ['false', 'true'],
    stored: (follows) => ({ default_follows_latest_issuer: follows === 'true' }),
    write: (members) =>
      site.secrets('pki/config/issuers', { default: rootId.get(namespace), ...members }, namespace),
  },
  {
    form: 'key',
    at: '/ui/certificates/pki?tab=keys',
    button: 'Rename the key signing',
    path: 'v1/pki/key/default',
    field: 'Name',
    values: ['signing', 'mine', 'theirs'],
    stored: (name) => ({ key_name: name }),
  },
  {
    form: 'issuer-settings',
    at: '/ui/certificates/pki/issuer/default',
    button: 'Change the settings',
    path: 'v1/pki/issuer/default',
    field: /^Certificates that would outlive it/,
    values: ['err', 'truncate', 'permit'],
    stored: (behavior) => ({ leaf_not_after_behavior: behavior }),
    meanwhile: {
      usage: 'issuing-certificates,ocsp-signing,read-only',
      issuer_name: 'named',
      ocsp_servers: ['http://a.example/ocsp'],
    },
    write: (members) => site.patchSecret('pki/issuer/default', members, namespace),
  },
  {
    form: 'issuer-addresses',
    at: '/ui/certificates/pki/issuer/default',
    button: 'Change its addresses',
    path: 'v1/pki/issuer/default',
    field: /^Delta list/,
    values: ['http://a.example/delta', 'http://b.example/delta', 'http://c.example/delta'],
    stored: (address) => ({ delta_crl_distribution_points: [address] }),
    meanwhile: { ocsp_servers: ['http://b.example/ocsp'], disable_path_length_checks: true },
    write: (members) => site.patchSecret('pki/issuer/default', members, namespace),
  },
  {
    form: 'est',
    at: '/ui/certificates/pki?tab=est',
    button: 'Change EST',
    path: 'v1/pki/config/est',
    field: /^Without a label/,
    values: ['', 'role:web', 'sign-verbatim'],
    stored: (policy) => ({ default_path_policy: policy }),
    meanwhile: {
      enabled: true,
      label_to_path_policy: { [`printers-${namespace || 'root'}`]: 'sign-verbatim' },
      authenticators: { userpass: { accessor: '' } },
      audit_fields: ['csr'],
    },
  },
  {
    form: 'policy-service',
    at: '/ui/certificates/pki?tab=policy',
    button: 'Change the service',
    path: 'v1/pki/config/external-policy',
    field: 'Address of the service',
    values: ['', 'https://a.example/decide', 'https://b.example/decide'],
    stored: (address) => ({ external_service_url: address }),
    meanwhile: { entity_jmespath: '@', trusted_ca: rootPem.get(namespace) },
  },
];

beforeAll(async () => {
  await site.secrets(`sys/namespaces/${BRANCH}`, {});
  await fillNamespace('');
  await fillNamespace(BRANCH);
}, PATIENCE_MS);

describe('an edited part of an authority', { timeout: PATIENCE_MS * 2 }, () => {
  test.for(['', BRANCH])('keeps what was not touched, in the namespace "%s"', async (namespace) => {
    const { page, problems } = await site.openSignedIn('/ui/', { namespace });
    for (const thing of thingsOf(namespace))
      await expectOneFieldToChange(site, page, thing, namespace);
    expect(problems).toEqual([]);
  });
});

describe('rules of revocation', { timeout: PATIENCE_MS }, () => {
  test('are all in one form, which sends those that were changed, and says why they are refused', async () => {
    await site.secrets('sys/mounts/lists', { type: 'pki' }, BRANCH);
    await site.secrets('lists/root/generate/internal', { common_name: 'Lists' }, BRANCH);
    const path = 'lists/config/crl';
    const rules = async () => (await site.readSecret(path, BRANCH)).data;
    const { page, problems } = await site.openSignedIn('/ui/certificates/lists?tab=settings', {
      namespace: BRANCH,
    });
    const sent: unknown[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith(path))
        sent.push(JSON.parse(request.postData() ?? ''));
    });
    await page.getByRole('button', { name: 'Change the rules' }).click();
    const dialog = page.getByRole('dialog');
    const save = dialog.getByRole('button', { name: 'Save' });
    expect(await faultsInVariants(page, 'rules of revocation')).toEqual({});
    await dialog.getByLabel('Serve the unified list at the addresses').check();
    await save.click();
    await dialog.getByRole('alert').filter({ hasText: 'if unified_crl is disabled' }).waitFor();
    const before = await rules();
    expect(before.unified_crl_on_existing_paths).toBe(false);
    // The field that was ticked is still so.
    await dialog.getByLabel('Publish a unified list of all clusters').check();
    await dialog.getByLabel('Revoke certificates of other clusters here').check();
    await dialog.getByLabel('Rebuild lists before they expire').check();
    await dialog.getByLabel('Rebuild before the end of validity by').fill('6h');
    await dialog.getByLabel('Publish delta lists').check();
    await dialog.getByLabel('Build a delta list every').fill('20m');
    await dialog.getByLabel('Maximum entries of a list').fill('-1');
    await dialog.getByLabel('Expired certificates can be revoked').check();
    await dialog.getByLabel('An OCSP answer is valid for').fill('0');
    await dialog.getByLabel('Lists name revoked certificates').uncheck();
    await save.click();
    await dialog.waitFor({ state: 'detached' });
    const changed = {
      unified_crl_on_existing_paths: true,
      unified_crl: true,
      cross_cluster_revocation: true,
      auto_rebuild: true,
      auto_rebuild_grace_period: '6h',
      enable_delta: true,
      delta_rebuild_interval: '20m',
      max_crl_entries: -1,
      allow_expired_cert_revocation: true,
      ocsp_expiry: '0',
      disable: true,
    };
    expect(sent).toEqual([{ unified_crl_on_existing_paths: true }, changed]);
    expect(await rules()).toEqual({ ...before, ...changed });
    await page.getByText('no lists', { exact: true }).waitFor();
    await page.getByText('of all clusters', { exact: false }).first().waitFor();
    expect(problems).toEqual([]);
  });
});
