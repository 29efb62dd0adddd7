/**
 * Every LIST that sys describes, with three of everything that is listed, in pages: `after` and `limit` choose the
 * keys, and `key_info` is about these alone.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { joinMethod, logIn, mountMethod } from './login-steps.ts';
import { type Document, openInitializedSys, type SysHarness } from './sys-harness.ts';

let cluster: SysHarness;
beforeAll(async () => {
  cluster = await openInitializedSys();
  await fill();
});
afterAll(() => cluster.close());

const NAMES = ['one', 'three', 'two'] as const;

const post = async (path: string, body: object = {}): Promise<Document> => {
  const answer = await cluster.asRoot('POST', path, { body });
  expect([path, answer.status < 300, answer.body?.errors]).toEqual([path, true, undefined]);
  return answer.body;
};

const addLease = async (mountUuid: string, name: string): Promise<void> => {
  const token = await cluster.createToken(['default']);
  const { audit } = await cluster.resolve('GET', 'auth/token/lookup-self', { token });
  await cluster.sys.ledger.register({
    mountUuid,
    requestPath: `/issue/${name}`,
    tokenHash: audit?.caller?.tokenHash ?? '',
    namespace: { id: 'root', path: '' },
    ttlSeconds: 600,
    maxTtlSeconds: 3600,
    renewable: true,
    engineData: Buffer.from('serial'),
    tokenType: 'service',
  });
};

/** Three of everything; leases are listed below one mount and at three. */
const fill = async (): Promise<void> => {
  await joinMethod(cluster);
  const people = await mountMethod(cluster, 'people');
  for (const name of NAMES) {
    await logIn(cluster, people.uuid, { aliasName: name });
    const { data: group } = await post('identity/group', { name, type: 'external' });
    await post('identity/group-alias', {
      name,
      mount_accessor: people.accessor,
      canonical_id: group.id,
    });
    for (const [path, body] of Object.entries({
      key: {},
      role: { key: 'default' },
      scope: {},
      assignment: {},
      client: { redirect_uris: 'https://app.example/', assignments: 'allow_all' },
      provider: { allowed_client_ids: '*' },
    }))
      await post(`identity/oidc/${path}/${name}`, body);
    const totp = await post('identity/mfa/method/totp', { issuer: name, method_name: name });
    await post('identity/mfa/method/webauthn', {
      relying_party_origins: 'https://keelson.example',
      method_name: `${name}-passkey`,
    });
    await post(`identity/mfa/login-enforcement/${name}`, {
      mfa_method_ids: [totp.data.method_id],
      auth_method_types: ['people'],
    });
    await post(`sys/namespaces/${name}`);
    await post(`sys/policies/acl/${name}`, { policy: 'path "a" { capabilities = ["read"] }' });
    await post(`sys/quotas/rate-limit/${name}`, { rate: 5000, path: name });
    await post(`sys/quotas/lease-count/${name}`, { max_leases: 5000, path: name });
    await post(`auth/token/roles/${name}`);
    await post('sys/config/ui/custom-messages', {
      title: name,
      message: 'YWFh',
      start_time: '2026-01-01T00:00:00Z',
    });
    await post(`sys/mounts/engine-${name}`, { type: 'sample' });
    const { uuid } = (await cluster.asRoot('GET', `sys/mounts/engine-${name}`)).body.data;
    for (const below of NAMES) await addLease(uuid, below);
    await post(`cubbyhole/${name}/${name}`, { a: 1 });
    await post(`cubbyhole/one/${name}-too`, { a: 1 });
  }
};

const AT: Readonly<Record<string, string>> = {
  '/cubbyhole/{path}': '/cubbyhole/one',
  '/sys/leases/lookup/{path}': '/sys/leases/lookup/engine-one/issue',
  '/sys/plugins/catalog/{type}': '/sys/plugins/catalog/auth',
};

interface Described {
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
}

const describedLists = async () => {
  const { pathsJson } = await cluster.sys.edge.describe();
  const paths = JSON.parse(pathsJson) as Record<string, Readonly<Record<string, Described>>>;
  return Object.entries(paths).flatMap(([path, { 'x-list': list }]) =>
    list === undefined ? [] : [{ path, list }],
  );
};

/** The entries of a list by their keys, those of the catalog of all kinds by their names. */
const entriesOf = (data: Document): Readonly<Record<string, unknown>> => {
  if (data.detailed !== undefined) {
    const detailed: readonly { readonly name: string }[] = data.detailed;
    const names: readonly string[] = [...data.auth, ...data.database, ...data.secret];
    return Object.fromEntries(
      names.toSorted().map((name) => [name, detailed.find((one) => one.name === name)]),
    );
  }
  const keys: readonly string[] = data.keys;
  expect(data.policies ?? keys).toEqual(keys);
  if (data.key_info !== undefined)
    expect(Object.keys(data.key_info).sort()).toEqual([...keys].sort());
  return Object.fromEntries(keys.map((key) => [key, data.key_info?.[key]]));
};

/** The faults in the pages of a list. */
const faultsOf = async (path: string): Promise<readonly unknown[]> => {
  const list = async (query: string) => {
    const { status, body } = await cluster.asRoot('LIST', path.slice(1), { query });
    return { status, errors: body.errors, entries: body.data && entriesOf(body.data) };
  };
  const { entries: all = {} } = await list('');
  const keys = Object.keys(all);
  const [first = '', second = ''] = keys;
  if (keys.length < 2) return [`has ${keys.length} entries only`];
  const faults: unknown[] = [];
  const compare = async (query: string, wanted: readonly string[]) => {
    const { entries = {} } = await list(query);
    const expected = Object.fromEntries(wanted.map((key) => [key, all[key]]));
    if (JSON.stringify(entries) !== JSON.stringify(expected))
      faults.push([query, Object.keys(entries), wanted]);
  };
  const after = (key: string) => `after=${encodeURIComponent(key)}`;
  await compare('limit=1', [first]);
  await compare(after(first), keys.slice(1));
  await compare(`${after(first)}&limit=1`, [second]);
  await compare(after(keys.at(-1) ?? ''), []);
  await compare('limit=-1', keys);
  if (JSON.stringify(keys) !== JSON.stringify(keys.toSorted())) faults.push(['order', keys]);
  const { status, errors } = await list('limit=many');
  if (status !== 400 || !String(errors).includes('"limit"')) faults.push(['limit=many', errors]);
  return faults;
};

/** A cluster has run one version only. */
const OF_ONE = ['/sys/version-history'];

test('every list has pages', async () => {
  const lists = await describedLists();
  expect(lists.length).toBeGreaterThan(30);
  const wrong: unknown[] = [];
  for (const { path, list } of lists) {
    const names = list.parameters
      .filter(({ in: place }) => place === 'query')
      .map(({ name }) => name);
    if (!names.includes('after') || !names.includes('limit')) wrong.push([path, names]);
    if (OF_ONE.includes(path)) continue;
    const faults = await faultsOf(AT[path] ?? path);
    if (faults.length > 0) wrong.push([path, ...faults]);
  }
  expect(wrong).toEqual([]);
});
