/** The forms of keys, issuers, EST and the external policy: each stores the field that was changed, and nothing else. */
import { beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { type EditedThing, expectOneFieldToChange } from './edit-walk.ts';

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
