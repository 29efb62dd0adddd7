/**
 * The directories of the specification: their paths, the issuer and role of each, and when they do not exist.
 */
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLUSTER_PATH } from '../../../test/acme-client.ts';
import { type OpenAcme, openAcme } from '../../../test/open-acme.ts';

let acme: OpenAcme;
beforeAll(async () => {
  acme = await openAcme();
  await acme.post('root/generate/internal', {
    common_name: 'Other',
    ttl: '87600h',
    key_type: 'ec',
    issuer_name: 'other',
  });
  const role = { allow_localhost: true, key_type: 'ec', ou: ['by-role'] };
  await acme.post('roles/web', role);
  await acme.post('roles/second', { ...role, issuer_ref: 'other' });
  await acme.post('roles/fleeting', { ...role, no_store: true });
}, 60_000);
afterAll(() => acme.close());

const DEFAULTS = {
  enabled: true,
  allowed_issuers: ['*'],
  allowed_roles: ['*'],
  allow_role_ext_key_usage: false,
  default_directory_policy: 'sign-verbatim',
  dns_resolver: '',
  eab_policy: 'not-required',
  max_ttl: 7_776_000,
};
const configure = (changes: object = {}) => acme.post('config/acme', { ...DEFAULTS, ...changes });

const issuedBy = async (directory: string) => {
  const { certificate } = await acme.obtain(acme.client(directory), 'localhost');
  const leaf = new X509Certificate(certificate.bytes);
  return { issuer: leaf.issuer, subject: leaf.subject, leaf };
};

describe('the certificate', () => {
  test.for([
    ['acme/', 'sign-verbatim', 'CN=Root', undefined],
    ['acme/', 'role:web', 'CN=Root', 'OU=by-role\nCN=localhost'],
    ['acme/', 'role:second', 'CN=Other', 'OU=by-role\nCN=localhost'],
    ['issuer/other/acme/', 'sign-verbatim', 'CN=Other', undefined],
    ['issuer/other/acme/', 'role:web', 'CN=Other', 'OU=by-role\nCN=localhost'],
    ['roles/second/acme/', 'sign-verbatim', 'CN=Other', 'OU=by-role\nCN=localhost'],
    ['roles/web/acme/', 'forbid', 'CN=Root', 'OU=by-role\nCN=localhost'],
    ['issuer/default/roles/second/acme/', 'forbid', 'CN=Root', 'OU=by-role\nCN=localhost'],
  ] as const)('%s with default %s', async ([directory, policy, issuer, subject]) => {
    await configure({ default_directory_policy: policy });
    const client = acme.client(directory);
    const document = (await client.get('directory')).json;
    expect(document.newOrder).toBe(`${CLUSTER_PATH}/${directory}new-order`);
    expect(await issuedBy(directory)).toMatchObject({ issuer, subject });
  });

  test('only a name in the path, or the default, selects the role', async () => {
    await configure();
    for (const [path, resource] of [
      ['roles/none/acme/', 404],
      ['issuer/none/acme/', 404],
      ['issuer/none/roles/web/acme/', 404],
      ['roles/fleeting/acme/', 403],
    ] as const) {
      const answer = await acme.client(path).get('directory');
      expect([path, answer.status]).toEqual([path, resource]);
      expect(answer.header('content-type')).toBe('application/problem+json');
      expect(answer.header('replay-nonce')).toBeDefined();
    }
  });
});

describe('restrictions of a directory', () => {
  test('issuers outside allowed_issuers are refused in paths, but not those of a role', async () => {
    await configure({ allowed_issuers: ['default'] });
    expect((await acme.client('issuer/other/acme/').get('directory')).status).toBe(403);
    expect((await acme.client('issuer/default/acme/').get('directory')).status).toBe(200);
    expect(await issuedBy('roles/second/acme/')).toMatchObject({ issuer: 'CN=Other' });
  });

  test('roles outside allowed_roles are refused in paths', async () => {
    await configure({ allowed_roles: ['web'] });
    expect((await acme.client('roles/second/acme/').get('directory')).status).toBe(403);
    expect((await acme.client('roles/web/acme/').get('directory')).status).toBe(200);
  });

  test('listed roles are profiles of the directories without a role', async () => {
    await configure({ allowed_roles: ['web', 'second'] });
    const client = acme.client();
    const { meta } = (await client.get('directory')).json;
    expect(Object.keys(meta.profiles)).toEqual(['web', 'second']);
    await client.register();
    const identifiers = [{ type: 'dns', value: 'localhost' }];
    const order = await client.post('new-order', { identifiers, profile: 'second' });
    expect(order.json).toMatchObject({ status: 'pending', profile: 'second' });
    const unknown = await client.post('new-order', { identifiers, profile: 'fleeting' });
    expect(unknown.json.type).toBe('urn:ietf:params:acme:error:invalidProfile');
  });

  test('extended key usages are those of a server unless the role may decide', async () => {
    await configure({ allow_role_ext_key_usage: true });
    expect((await issuedBy('roles/web/acme/')).leaf.keyUsage).toEqual([
      '1.3.6.1.5.5.7.3.1',
      '1.3.6.1.5.5.7.3.2',
    ]);
    await configure();
    expect((await issuedBy('roles/web/acme/')).leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  });

  test('max_ttl limits every certificate', async () => {
    await configure({ max_ttl: '2h' });
    const { leaf } = await issuedBy('roles/web/acme/');
    expect(Date.parse(leaf.validTo) - acme.pki.clock.nowMs()).toBe(2 * 3600 * 1000);
  });
});

describe('paths without a directory', () => {
  const ALL = [
    'acme/',
    'roles/web/acme/',
    'issuer/default/acme/',
    'issuer/default/roles/web/acme/',
    'external-policy/acme/',
    'external-policy/p/acme/',
    'issuer/default/external-policy/acme/',
    'issuer/default/external-policy/p/acme/',
  ];

  test('while ACME is disabled, every directory is 404 without details', async () => {
    await configure({ enabled: false });
    for (const directory of ALL)
      for (const resource of ['directory', 'new-nonce']) {
        const answer = await acme.client(directory).get(resource);
        expect([directory, answer.status, answer.bytes.toString()]).toEqual([
          directory,
          404,
          '{"errors":[]}',
        ]);
      }
  });

  test('forbid removes only the directories without a role', async () => {
    await configure({ default_directory_policy: 'forbid' });
    const statuses = async (paths: readonly string[]) =>
      Promise.all(paths.map(async (path) => (await acme.client(path).get('directory')).status));
    expect(await statuses(['acme/', 'issuer/default/acme/'])).toEqual([404, 404]);
    expect(await statuses(['roles/web/acme/', 'issuer/default/roles/web/acme/'])).toEqual([
      200, 200,
    ]);
  });

  test('directories of an external policy exist only where a policy service is configured', async () => {
    await configure({ default_directory_policy: 'external-policy:p' });
    for (const directory of ['acme/', ...ALL.slice(4)])
      expect((await acme.client(directory).get('directory')).status).toBe(404);
  });
});

describe('config/acme', () => {
  const read = async () => (await acme.pki.call('GET', 'config/acme')).data;

  test('changes the given members and shows all', async () => {
    await configure();
    const answer = await acme.post('config/acme', { max_ttl: '48h', dns_resolver: '10.0.0.1:53' });
    expect(answer.data).toMatchObject({
      ...DEFAULTS,
      max_ttl: 172_800,
      dns_resolver: '10.0.0.1:53',
    });
    expect(await read()).toEqual(answer.data);
    const unset = await acme.post('config/acme', { max_ttl: '' });
    expect(unset.data.max_ttl).toBe(DEFAULTS.max_ttl);
  });

  test.for([
    [{ allowed_roles: [] }, 'allowed_roles must take a non-zero length value'],
    [{ allowed_issuers: [] }, 'allowed_issuers must take a non-zero length value'],
    [{ allowed_roles: ['web', '*'] }, "cannot use '*' as role name at index 1"],
    [{ allowed_roles: ['none'] }, 'role none'],
    [{ allowed_roles: ['fleeting'] }, 'no_store=true'],
    [{ default_directory_policy: 'role:none' }, 'role none specified in default_directory_policy'],
    [{ allowed_issuers: ['none'] }, 'issuer none'],
    [{ default_directory_policy: 'role:none' }, 'role none'],
    [{ default_directory_policy: 'anything' }, 'default_directory_policy must be'],
    [
      { default_directory_policy: 'role:second', allowed_roles: ['web'] },
      'default directory policy second was not specified in allowed_roles: web',
    ],
    [{ eab_policy: 'sometimes' }, 'invalid eab_policy'],
    [{ dns_resolver: 'dns.example.com:53' }, 'failed to parse DNS resolver'],
    [{ dns_resolver: '10.0.0.1' }, 'failed to parse DNS resolver'],
    [{ max_ttl: 0 }, 'max_ttl'],
    [{ challenge_excluded_ip_ranges: ['10.0.0.0/99'] }, 'invalid CIDR or IP address'],
  ] as const)('refuses %o', async ([change, text]) => {
    await configure();
    const before = await read();
    const answer = await acme.pki.call('POST', 'config/acme', change);
    expect(answer.status).toBe(400);
    expect(answer.json.errors[0]).toContain(text);
    expect(await read()).toEqual(before);
  });

  test.for([
    { challenge_permitted_ip_ranges: ['192.0.2.0/24'] },
    { challenge_excluded_ip_ranges: ['127.0.0.0/8', '::1'] },
  ])('keeps validation to addresses: %o', async (ranges) => {
    await configure(ranges);
    const client = acme.client();
    await client.register();
    const order = await client.order('localhost');
    await acme.prove(client, order);
    const url = order.header('location') ?? '';
    expect((await acme.settle(client, url, ['pending'])).json.status).toBe('invalid');
    const { json } = await client.post(order.json.authorizations[0]);
    expect(JSON.stringify(json.challenges)).toContain('rejectedIdentifier');
  });

  test('requires the address of the cluster, and warns when it is removed', async () => {
    await configure();
    await acme.post('config/cluster', { path: '' });
    expect((await acme.pki.call('GET', 'config/acme')).json.warnings).toHaveLength(1);
    expect((await acme.client().get('directory')).status).toBe(404);
    const refused = await acme.pki.call('POST', 'config/acme', { enabled: true });
    expect(refused.json.errors[0]).toBe(
      "ACME feature requires local cluster 'path' field configuration to be set: write config/cluster here and, on a performance secondary, also on its primary",
    );
    await acme.post('config/cluster', { path: CLUSTER_PATH });
  });
});
