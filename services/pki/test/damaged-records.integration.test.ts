/** Records that a disk has damaged: each takes down what depends on it, and nothing else. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openAcme } from './open-acme.ts';
import { leafRole, type Mounts, openMounts, other } from './open-mounts.ts';
import { aMount, type OpenPki } from './open-pki.ts';

const { uuid } = aMount();

let mounts: Mounts;
let sound: { readonly issuer_id: string; readonly key_id: string };
let lost: { readonly issuer_id: string; readonly key_id: string };

beforeEach(async () => {
  mounts = await openMounts();
  sound = await mounts.root('Sound', mounts.pki.mount, { issuer_name: 'sound' });
  lost = await mounts.root('Lost', mounts.pki.mount, { issuer_name: 'lost' });
  for (const issuer of ['sound', 'lost'])
    await mounts.post(`roles/${issuer}`, { ...leafRole, issuer_ref: issuer });
});
afterEach(() => mounts.close());

/** The path of the record whose path ends so, of which there must be one. */
const pathOf = async (end: string, { store }: OpenPki = mounts.pki): Promise<string> => {
  const paths: string[] = [];
  for (const tree of ['replicated', 'local'] as const)
    paths.push(...(await store.stored.listPaths(tree, '', 10_000)));
  const [path, ...others] = paths.filter((one) => one.includes(uuid) && one.endsWith(end));
  if (path === undefined || others.length > 0) throw new Error(`${end}: ${path} ${others.join()}`);
  return path;
};
/** @returns its path */
const damage = async (end: string, pki: OpenPki = mounts.pki): Promise<string> => {
  const path = await pathOf(end, pki);
  await pki.store.applyRecords('damage', [{ path, stored: Buffer.from([0]) }]);
  return path;
};
/** Replaces a record by one that another version of Keelson could have written. @returns its path */
const rewrite = async (end: string, text: string): Promise<string> => {
  const path = await pathOf(end);
  await mounts.pki.store.transact((tx) => tx.write(path, Buffer.from(text)));
  return path;
};
const call = (method: string, path: string, body?: unknown) => mounts.pki.call(method, path, body);
const issue = (role: string) => call('POST', `issue/${role}`, { common_name: 'a.example.com' });
const told = (path: string) => ({
  errors: [`the record ${path} cannot be decrypted: it is damaged or was moved`],
});
const refusedFor = async (path: string, method: string, at: string, body?: unknown) => {
  const { status, json } = await call(method, at, body);
  expect([status, json]).toEqual([500, told(path)]);
};

test('a role: other roles issue, the list has its name, and it can be written again', async () => {
  const path = await damage('roles/lost');
  await refusedFor(path, 'POST', 'issue/lost', { common_name: 'a.example.com' });
  await refusedFor(path, 'GET', 'roles/lost');
  expect((await issue('sound')).status).toBe(200);
  expect((await call('LIST', 'roles')).data.keys).toEqual(['lost', 'sound']);
  expect(mounts.pki.store.damagedPaths()).toEqual([path]);
  expect(await mounts.pki.service.edge.check()).toEqual([
    'records that cannot be read (the log names them): 1',
  ]);
  expect((await call('DELETE', 'roles/lost')).status).toBe(204);
  expect(await mounts.pki.service.edge.check()).toEqual([]);
  await mounts.post('roles/lost', leafRole);
});

test('a role of another shape is refused by name, and other roles issue', async () => {
  const path = await rewrite('roles/lost', '{"issuerRef":"lost","ttlSeconds":"1h"}');
  for (const [method, at] of [
    ['GET', 'roles/lost'],
    ['POST', 'issue/lost'],
  ] as const) {
    const { status, json } = await call(method, at, { common_name: 'a.example.com' });
    expect([status, json.errors]).toEqual([
      500,
      [expect.stringContaining(`the record ${path} is damaged`)],
    ]);
  }
  expect((await issue('sound')).status).toBe(200);
  expect((await call('LIST', 'roles')).data.keys).toEqual(['lost', 'sound']);
  expect(mounts.pki.store.damagedPaths()).toEqual([path]);
  expect((await call('DELETE', 'roles/lost')).status).toBe(204);
  expect(mounts.pki.store.damagedPaths()).toEqual([]);
});

test('settings of a newer version are refused by name, and not replaced', async () => {
  await mounts.post('config/urls', { ocsp_servers: ['http://a.example.com/ocsp'] });
  const path = await rewrite('/config/urls', 'v2 {"ocsp":[]}');
  for (const [method, body] of [
    ['GET', undefined],
    ['POST', { crl_distribution_points: ['http://a.example.com/crl'] }],
  ] as const) {
    const { status, json } = await call(method, 'config/urls', body);
    expect([status, json.errors]).toEqual([
      503,
      [expect.stringContaining(`the record ${path} has version 2`)],
    ]);
  }
  expect(Buffer.from((await mounts.pki.store.read(path))?.value ?? []).toString()).toBe(
    'v2 {"ocsp":[]}',
  );
});

test('without a readable default, the issuers that are named are shown and issue', async () => {
  await mounts.post('config/issuers', { default: 'sound' });
  await rewrite('/config/defaults', '{}');
  expect((await call('GET', 'issuer/sound')).status).toBe(200);
  expect((await issue('sound')).status).toBe(200);
});

describe('an issuer', () => {
  test('others issue and have lists; what names it, or may name it, is refused', async () => {
    const path = await damage(`issuers/${lost.issuer_id}`);
    expect((await issue('sound')).status).toBe(200);
    await refusedFor(path, 'POST', 'issue/lost', { common_name: 'a.example.com' });
    await refusedFor(path, 'GET', `issuer/${lost.issuer_id}`);
    await refusedFor(path, 'GET', 'issuer/lost');
    // It is unknown whether it uses the key.
    await refusedFor(path, 'DELETE', `key/${lost.key_id}`);
    const listed = await call('LIST', 'issuers');
    expect([listed.data.keys, listed.json.warnings]).toEqual([
      [sound.issuer_id],
      [
        `the issuer ${lost.issuer_id} is damaged and cannot be used (docs/runbooks/repair-damage.md)`,
      ],
    ]);
    expect((await call('GET', 'crl/rotate')).data.success).toBe(true);
    expect((await call('GET', 'issuer/sound/crl/der')).status).toBe(200);
  });

  test('that is the default: requests that name none are refused', async () => {
    await mounts.post('roles/default', leafRole);
    const path = await damage(`issuers/${sound.issuer_id}`);
    await refusedFor(path, 'POST', 'issue/default', { common_name: 'a.example.com' });
    expect((await issue('lost')).status).toBe(200);
    expect((await call('LIST', 'issuers')).data.keys).toEqual([lost.issuer_id]);
  });
});

test('a key: its issuer signs nothing, and is read', async () => {
  const path = await damage(`keys/${lost.key_id}`);
  expect((await issue('sound')).status).toBe(200);
  await refusedFor(path, 'POST', 'issue/lost', { common_name: 'a.example.com' });
  await refusedFor(path, 'GET', `key/${lost.key_id}`);
  expect((await call('GET', 'issuer/lost')).data.key_id).toBe(lost.key_id);
  const listed = await call('LIST', 'keys');
  expect([listed.data.keys, listed.json.warnings]).toEqual([
    [sound.key_id],
    [`the key ${lost.key_id} is damaged and cannot be used (docs/runbooks/repair-damage.md)`],
  ]);
});

test.for([
  ['config/urls', '/urls', ['POST', 'issue/sound']],
  ['config/cluster', '/cluster', ['GET', 'config/cluster']],
  ['config/crl', '/crl', ['GET', 'crl/rotate']],
  ['config/issuers', '/defaults', ['GET', 'config/issuers']],
] as const)(
  '%s: what reads it is refused, issuers and keys are listed',
  async ([at, end, [method, dependent]]) => {
    const { certificate } = (await issue('sound')).data;
    await mounts.pki.call('POST', at, { path: 'https://a.example.com/v1/pki', default: 'sound' });
    const path = await damage(end);
    await refusedFor(path, 'GET', at);
    await refusedFor(path, method, dependent, { common_name: 'a.example.com' });
    expect((await call('LIST', 'issuers')).data.keys).toHaveLength(2);
    expect((await call('LIST', 'keys')).data.keys).toHaveLength(2);
    expect((await call('GET', 'issuer/sound')).status).toBe(200);
    expect(mounts.textOf(certificate)).toContain('a.example.com');
  },
);

test.for([
  ['config/urls', '/config/urls', { ocsp_servers: ['http://a.example.com/ocsp'] }],
  ['config/cluster', '/config/cluster', { path: 'https://a.example.com/v1/pki' }],
  ['config/crl', '/config/crl', { expiry: '100h' }],
  ['config/issuers', '/config/defaults', { default: 'sound' }],
  ['config/acme', '/config/acme', { max_ttl: 3600 }],
  ['config/est', `/est/${uuid}/config`, { audit_fields: ['csr'] }],
  ['config/auto-tidy', '/auto-tidy/settings', { interval_duration: 7200 }],
  ['config/external-policy', '/external-policy', { group_jmespath: 'groups' }],
] as const)('%s is repaired by writing it again', async ([at, end, body]) => {
  await mounts.post(at, body);
  const before = (await call('GET', at)).data;
  const path = await damage(end);
  await refusedFor(path, 'GET', at);
  const written = await call('POST', at, body);
  expect([written.status, written.json.warnings?.[0]]).toEqual([
    200,
    'the former settings cannot be read and were replaced: fields that this request does not contain have their defaults',
  ]);
  const [field = ''] = Object.keys(body);
  expect((await call('GET', at)).data[field]).toEqual(before[field]);
  expect(await mounts.pki.service.edge.check()).toEqual([]);
  expect((await issue('sound')).status).toBe(200);
});

describe('the settings of EST', () => {
  beforeEach(async () => {
    await mounts.post('config/est', {
      enabled: true,
      default_mount: true,
      default_path_policy: 'role:lost',
      label_to_path_policy: { lost: 'role:lost' },
    });
    await mounts.root('Other', other);
    await mounts.post('roles/other', leafRole, other);
    const labels = { label_to_path_policy: { other: 'role:other' } };
    await mounts.post('config/est', { enabled: true, ...labels }, other);
    await mounts.pki.join({
      initialized: true,
      sealed: false,
      serviceKey: Buffer.alloc(32, 7),
      keyringTerm: 0,
      clusterId: 'cluster',
      clusterName: 'cluster',
      mounts: [mounts.pki.mount, other],
      unreadableMountUuids: [],
      formerServiceKeys: [],
      replicationRoles: [],
    });
  });
  const locate = (label: string, operation = 'cacerts') =>
    mounts.pki.service.enrolment.locate({ label, operation });

  test('the mount serves no EST, and everything else; other mounts serve EST', async () => {
    expect(await locate('lost')).toMatchObject({ path: 'pki/roles/lost/est/cacerts' });
    const path = await damage(`/est/${uuid}/config`);
    for (const at of ['est/cacerts', 'roles/lost/est/csrattrs']) await refusedFor(path, 'GET', at);
    for (const at of ['est/simpleenroll', 'est/by-certificate/lost/simpleenroll'])
      await refusedFor(path, 'POST', at);
    expect((await issue('lost')).status).toBe(200);
    expect(await locate('other')).toMatchObject({ path: 'other/roles/other/est/cacerts' });
    const served = await mounts.pki.call('GET', 'roles/other/est/cacerts', undefined, {
      mount: other,
    });
    expect(served.status).toBe(200);
    const relabelled = { label_to_path_policy: { another: 'role:other' } };
    await mounts.post('config/est', relabelled, other);
    expect((await locate('another')).path).toBe('other/roles/other/est/cacerts');
  });

  test('a label that the mount may have is not said to be unknown, nor EST to be disabled', async () => {
    const path = await damage(`/est/${uuid}/config`);
    const refusal = { code: 'barrier.damaged_value', message: told(path).errors[0] };
    for (const label of ['lost', '', 'unknown'])
      await expect(locate(label)).rejects.toMatchObject(refusal);
    await mounts.post('config/est', { enabled: false }, other);
    await expect(locate('lost')).rejects.toMatchObject(refusal);
    await expect(locate('', 'fullcmc')).rejects.toMatchObject({
      code: 'pki.est_unknown_operation',
    });
    await mounts.post('config/est', { enabled: false });
    await expect(locate('lost')).rejects.toMatchObject({ code: 'pki.est_disabled' });
  });
});

test.for([
  ['config/acme', 'GET acme/directory', '/config/acme', { enabled: false }],
  ['config/acme', 'POST roles/sound/acme/new-account', '/config/acme', { enabled: false }],
  [
    'config/external-policy',
    'POST external-policy/issue',
    '/external-policy',
    { group_jmespath: 'groups' },
  ],
] as const)('%s: %s is refused', async ([at, request, end, body]) => {
  await mounts.post(at, body);
  const path = await damage(end);
  const [method = '', dependent = ''] = request.split(' ');
  const refused = await call(method, dependent, { common_name: 'a.example.com' });
  expect(refused.status).toBe(500);
  expect(refused.bytes.toString()).toContain(told(path).errors[0]);
  expect((await issue('sound')).status).toBe(200);
  expect((await call('GET', 'crl/rotate')).data.success).toBe(true);
});

test('a revocation stays on the lists, also when their table is built again', async () => {
  const { serial_number: serial } = (await issue('lost')).data;
  await mounts.post('revoke', { serial_number: serial });
  const path = await damage(`revoked/${uuid}/${serial.replaceAll(':', '-')}`);
  const isListed = async (issuer: string) => {
    expect((await call('GET', 'crl/rotate')).data.success).toBe(true);
    const crl = mounts.file(`${issuer}.crl`, (await call('GET', `issuer/${issuer}/crl/der`)).bytes);
    const shown = mounts.openssl('crl', '-inform', 'DER', '-noout', '-text', '-in', crl);
    return shown.includes(serial.replaceAll(':', '').toUpperCase());
  };
  expect([await isListed('lost'), await isListed('sound')]).toEqual([true, false]);
  await mounts.pki.store.rebuildProjections();
  // Which issuer it is of is known no more.
  expect([await isListed('lost'), await isListed('sound')]).toEqual([true, true]);
  await refusedFor(path, 'GET', `cert/${serial.replaceAll(':', '-')}`);
  expect((await issue('lost')).status).toBe(200);
});

test('a certificate: others are listed, read and tidied', async () => {
  const [first, second] = [(await issue('sound')).data, (await issue('sound')).data];
  const path = await damage(`certs/${uuid}/${first.serial_number.replaceAll(':', '-')}`);
  await refusedFor(path, 'GET', `cert/${first.serial_number}`);
  expect((await call('GET', `cert/${second.serial_number}`)).status).toBe(200);
  expect((await call('LIST', 'certs')).data.keys).toContain(first.serial_number);
  await mounts.pki.store.rebuildProjections();
  expect((await issue('sound')).status).toBe(200);
});

test('an ACME account: others place orders, and tidy counts them', async () => {
  const acme = await openAcme();
  const [broken, other] = [acme.client(), acme.client()];
  await broken.register();
  const path = await damage(`accounts/${broken.account.split('/').at(-1)}`, acme.pki);
  const refused = await broken.order('a.example.com');
  expect([refused.status, refused.json]).toMatchObject([
    500,
    { type: 'urn:ietf:params:acme:error:serverInternal', detail: told(path).errors[0] },
  ]);
  await other.register();
  expect((await other.order('b.example.com')).status).toBe(201);
  await acme.post('tidy', { tidy_acme: true, acme_account_safety_buffer: '1s' });
  await expect
    .poll(async () => (await acme.pki.call('GET', 'tidy-status')).data)
    .toMatchObject({ state: 'Finished', total_acme_account_count: 1 });
  await acme.close();
});
