import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type Document,
  openSysHarness,
  type SysHarness,
  type SysRequest,
} from '../../test/sys-harness.ts';
import { tokens } from './token-records.ts';

let harness: SysHarness;
let root: string;
beforeEach(async () => {
  harness = await openSysHarness();
  root = (await harness.initialize()).rootToken;
});
afterEach(() => harness.close());

const call = (method: string, path: string, request: SysRequest = {}) =>
  harness.call(method, path, request);
const create = async (body: Document = {}, token = root): Promise<Document> => {
  const { status, body: answer } = await call('POST', 'auth/token/create', { token, body });
  expect([status, answer.errors]).toEqual([200, undefined]);
  return answer.auth;
};
const refusal = async (path: string, body: Document, token = root): Promise<[number, string]> => {
  const answer = await call('POST', path, { token, body });
  return [answer.status, answer.body?.errors?.[0]];
};
const works = async (token: string): Promise<boolean> =>
  (await call('GET', 'auth/token/lookup-self', { token })).status === 200;
const policy = (name: string, text: string) =>
  call('PUT', `sys/policies/acl/${name}`, { token: root, body: { policy: text } });

describe('creating tokens', () => {
  test('a child has the default policy, a TTL and its own accessor', async () => {
    const answer = await call('POST', 'auth/token/create', {
      token: root,
      body: { policies: ['Web'], meta: { team: 'a' }, display_name: 'a b', ttl: '1h' },
    });
    expect(answer.body.auth).toMatchObject({
      policies: ['default', 'web'],
      token_policies: ['default', 'web'],
      metadata: { team: 'a' },
      lease_duration: 3600,
      renewable: true,
      token_type: 'service',
      orphan: false,
      num_uses: 0,
    });
    expect(answer.body.auth.client_token).toMatch(/^hvs\.\w{24}$/);
    expect(answer.body.warnings).toEqual(['Policy "web" does not exist']);
    const token = answer.body.auth.client_token;
    const found = await call('GET', 'auth/token/lookup-self', { token });
    expect(found.body.data).toMatchObject({
      id: token,
      display_name: 'token-a-b',
      path: 'auth/token/create',
      ttl: 3600,
      creation_ttl: 3600,
      explicit_max_ttl: 0,
      type: 'service',
      orphan: false,
    });
  });

  test('no part of a token is in the store', async () => {
    const { client_token: token, accessor } = await create({ policies: ['default'] });
    const records = await harness.store.scan('local/');
    const kept = records.map(({ path, value }) => `${path} ${Buffer.from(value).toString()}`);
    expect(kept.filter((text) => text.includes(token.slice(4)))).toEqual([]);
    expect(records.filter(({ path }) => path.includes(accessor))).toEqual([]);
  });

  test('rules refuse with the texts that clients know', async () => {
    await policy('plain', 'path "auth/token/*" { capabilities = ["create", "update", "read"] }');
    const plain = (await create({ policies: ['plain'] })).client_token;
    const batch = (await create({ policies: ['plain'], type: 'batch' })).client_token;
    const counted = (await create({ policies: ['plain'], num_uses: 9 })).client_token;
    expect(await create({ policies: ['p'], ttl: '', lease: '1h' })).toMatchObject({
      lease_duration: 3600,
    });
    const expiringRoot = (await create({ policies: ['root'], ttl: '1h' })).client_token;
    const path = 'auth/token/create';
    expect(await refusal(path, {}, batch)).toEqual([400, 'batch tokens cannot create more tokens']);
    expect(await refusal(path, {}, counted)).toEqual([
      400,
      'restricted use token cannot generate child tokens',
    ]);
    expect(await refusal(path, { policies: ['x'] }, plain)).toEqual([
      400,
      'child policies must be subset of parent',
    ]);
    expect(await refusal(path, { no_parent: true }, plain)).toEqual([
      400,
      'root or sudo privileges required to create orphan token',
    ]);
    expect(await refusal(path, { period: '1h' }, plain)).toEqual([
      400,
      'root or sudo privileges required to create periodic token',
    ]);
    expect(await refusal(path, { id: 'mine' }, plain)).toEqual([
      400,
      'root or sudo privileges required to specify token id',
    ]);
    expect(await refusal(path, { id: 'hvs.x' })).toEqual([
      400,
      "custom token ID cannot have the 'hvs.' or 's.' prefix",
    ]);
    for (const [meta, text] of [
      [{ a: 'x'.repeat(513) }, 'a meta value has at most 512 characters'],
      [{ ['k'.repeat(129)]: '' }, 'a meta key has 1 to 128 characters'],
      [
        Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`k${index}`, ''])),
        'meta has at most 64 entries',
      ],
    ] as const)
      expect(await refusal(path, { meta })).toEqual([400, text]);
    expect(await refusal(path, { type: 'batch', policies: ['root'] })).toEqual([
      400,
      'batch tokens cannot be root tokens',
    ]);
    for (const [name, value] of [
      ['explicit_max_ttl', '1h'],
      ['num_uses', 1],
      ['period', '1h'],
    ] as const) {
      expect(await refusal(path, { type: 'batch', policies: ['plain'], [name]: value })).toEqual([
        400,
        `batch tokens cannot have "${name}" set`,
      ]);
    }
    expect(await refusal(path, { policies: ['root'] }, expiringRoot)).toEqual([
      400,
      'expiring root tokens cannot create non-expiring root tokens',
    ]);
    await policy('sudo', 'path "auth/token/create" { capabilities = ["update", "sudo"] }');
    const sudo = (await create({ policies: ['sudo'] })).client_token;
    expect(await refusal(path, { policies: ['root'] }, sudo)).toEqual([
      400,
      'root tokens may not be created without parent token being root',
    ]);
    expect(await refusal(path, { policies: ['response-wrapping'] })).toEqual([
      400,
      'cannot assign policy "response-wrapping"',
    ]);
  });

  test('create-orphan makes an orphan without sudo', async () => {
    await policy('plain', 'path "auth/token/*" { capabilities = ["create", "update"] }');
    const plain = (await create({ policies: ['plain'] })).client_token;
    const made = await call('POST', 'auth/token/create-orphan', { token: plain });
    expect(made.body.auth).toMatchObject({ orphan: true, policies: ['default', 'plain'] });
    await call('POST', 'auth/token/revoke', { token: root, body: { token: plain } });
    expect(await works(made.body.auth.client_token)).toBe(true);
  });

  test('a role decides policies, period, orphan and suffix', async () => {
    const role = 'auth/token/roles/ci';
    const body = {
      allowed_policies: ['a'],
      allowed_policies_glob: ['g-*'],
      disallowed_policies: ['g-no'],
      orphan: true,
      token_period: '1h',
      path_suffix: 'x1',
    };
    expect((await call('POST', role, { token: root, body })).status).toBe(204);
    expect((await call('GET', role, { token: root })).body.data).toMatchObject({
      name: 'ci',
      allowed_policies: ['a'],
      token_period: 3600,
      orphan: true,
      token_type: 'default-service',
    });
    expect((await call('LIST', 'auth/token/roles', { token: root })).body.data.keys).toEqual([
      'ci',
    ]);
    const made = await call('POST', 'auth/token/create/ci', { token: root });
    expect(made.body.auth).toMatchObject({ policies: ['a', 'default'], orphan: true });
    const data = (
      await call('GET', 'auth/token/lookup-self', { token: made.body.auth.client_token })
    ).body.data;
    expect(data).toMatchObject({ role: 'ci', period: 3600, path: 'auth/token/create/ci/x1' });
    const path = 'auth/token/create/ci';
    expect((await refusal(path, { policies: ['b'] }))[1]).toMatch(
      /must be subset of the role's allowed/,
    );
    expect((await refusal(path, { policies: ['g-no'] }))[1]).toBe(
      'token policy "g-no" is disallowed by this role',
    );
    expect(await refusal('auth/token/create/none', {})).toEqual([400, 'unknown role none']);
    expect((await call('DELETE', role, { token: root })).status).toBe(204);
    expect((await call('GET', role, { token: root })).status).toBe(404);
  });
});

describe('the life of tokens', () => {
  test('a token expires, together with its children', async () => {
    const parent = (await create({ policies: ['root'], ttl: '1h' })).client_token;
    const child = (await create({ policies: ['default'], ttl: '10h' }, parent)).client_token;
    expect([await works(parent), await works(child)]).toEqual([true, true]);
    harness.clock.advance(3_600_000);
    expect([await works(parent), await works(child)]).toEqual([false, false]);
  });

  test('renewal gives the increment but never more than the maximum', async () => {
    const made = await create({ policies: ['default'], ttl: '1h', explicit_max_ttl: '2h' });
    const token = made.client_token;
    harness.clock.advance(1_800_000);
    const renew = (increment: string) =>
      call('POST', 'auth/token/renew-self', { token, body: { increment } });
    expect((await renew('30m')).body.auth).toMatchObject({
      client_token: token,
      lease_duration: 1800,
    });
    expect((await renew('10h')).body.auth.lease_duration).toBe(5400);
    const byAccessor = await call('POST', 'auth/token/renew-accessor', {
      token: root,
      body: { accessor: made.accessor, increment: '5m' },
    });
    expect(byAccessor.body.auth).toMatchObject({ client_token: '', lease_duration: 300 });
    const fixed = await create({ policies: ['default'], renewable: false });
    for (const given of [root, fixed.client_token])
      expect(await refusal('auth/token/renew', { token: given })).toEqual([
        400,
        'lease is not renewable',
      ]);
    expect(await refusal('auth/token/renew', { token: 'hvs.none' })).toEqual([
      400,
      'token not found',
    ]);
  });

  test('the tuning of auth/token bounds new and renewed tokens of its namespace', async () => {
    await call('POST', 'sys/namespaces/a', { token: root });
    const body = { default_lease_ttl: '30m', max_lease_ttl: '1h' };
    expect((await call('POST', 'sys/auth/token/tune', { token: root, body })).status).toBe(204);
    expect((await create({ policies: ['default'] })).lease_duration).toBe(1800);
    const made = await call('POST', 'auth/token/create', {
      token: root,
      body: { policies: ['default'], ttl: '2h' },
    });
    expect([made.body.auth.lease_duration, made.body.warnings]).toEqual([
      3600,
      ['TTL of "7200s" exceeded the effective max_ttl of "3600s"; TTL value is capped accordingly'],
    ]);
    harness.clock.advance(1_800_000);
    const renewed = await call('POST', 'auth/token/renew-self', {
      token: made.body.auth.client_token,
      body: { increment: '2h' },
    });
    expect(renewed.body.auth.lease_duration).toBe(1800);
    const elsewhere = await call('POST', 'auth/token/create', {
      token: root,
      namespace: 'a',
      body: { policies: ['default'], ttl: '2h' },
    });
    expect(elsewhere.body.auth.lease_duration).toBe(7200);
  });

  test('a periodic token starts its period again', async () => {
    const token = (await create({ policies: ['default'], period: '1h' })).client_token;
    for (let renewal = 0; renewal < 3; renewal += 1) {
      harness.clock.advance(3_000_000);
      const { body } = await call('POST', 'auth/token/renew-self', { token });
      expect(body.auth.lease_duration).toBe(3600);
    }
    harness.clock.advance(3_600_001);
    expect(await works(token)).toBe(false);
  });

  test('no lifetime is longer than its token can show', async () => {
    const longest = await create({ policies: ['default'], period: 9_223_372_036 });
    const { body } = await call('GET', 'auth/token/lookup-self', { token: longest.client_token });
    expect(body.data.expire_time).toMatch(/^2322-/);
    expect(await refusal('auth/token/create', { period: '9007199254740991' })).toEqual([
      400,
      expect.stringContaining('"period": a duration has at most 9223372036 seconds'),
    ]);
  });

  test('a use limit ends the token after exactly that many requests', async () => {
    const token = (await create({ policies: ['default'], num_uses: 3 })).client_token;
    const answers = [];
    for (let use = 0; use < 5; use += 1) answers.push(await works(token));
    expect(answers).toEqual([true, true, true, false, false]);
    const other = (await create({ policies: ['default'], num_uses: 5 })).client_token;
    const many = await Promise.all(Array.from({ length: 20 }, () => works(other)));
    expect(many.filter(Boolean)).toHaveLength(5);
  });

  test('revoking ends the whole tree; revoke-orphan only the token', async () => {
    const parent = (await create({ policies: ['root'] })).client_token;
    const child = (await create({ policies: ['root'] }, parent)).client_token;
    const grandchild = (await create({ policies: ['default'] }, child)).client_token;
    const body = { token: parent };
    expect((await call('POST', 'auth/token/revoke-orphan', { token: root, body })).status).toBe(
      204,
    );
    expect([await works(parent), await works(child), await works(grandchild)]).toEqual([
      false,
      true,
      true,
    ]);
    expect((await call('POST', 'auth/token/revoke-self', { token: child })).status).toBe(204);
    expect([await works(child), await works(grandchild)]).toEqual([false, false]);
    expect((await harness.store.scan('local/token-children/')).length).toBe(0);
    expect((await harness.store.list('local/tokens/root/')).length).toBe(1);
  });

  test('a tree is removed however wide and deep it is', async () => {
    const parent = (await create({ policies: ['root'] })).client_token;
    const children = await Promise.all(
      Array.from({ length: 205 }, () => create({ policies: ['root'] }, parent)),
    );
    await Promise.all(children.map(({ client_token: child }) => create({}, child)));
    expect((await call('POST', 'auth/token/revoke-self', { token: parent })).status).toBe(204);
    expect(await harness.store.scan('local/token-children/')).toEqual([]);
    expect((await harness.store.list('local/tokens/root/')).length).toBe(1);
  });

  test('rows that an earlier release left of removed tokens do not stop the removal of others', async () => {
    const parent = await create({ policies: ['root'], ttl: '1m' });
    await create({ ttl: '1m' }, parent.client_token);
    // The parent is itself a child, of the root token, whose row may come first.
    const rows = (await harness.store.scan('local/token-children/')).map(({ path }) => path);
    const parentOf = (path: string): string => path.split('/').at(-2) ?? '';
    const child =
      rows.find((path) => rows.some((other) => other.endsWith(`.${parentOf(path)}`))) ?? '';
    await harness.store.transact((tx) => {
      const gone = 'f'.repeat(64);
      tx.write(`${child.slice(0, child.lastIndexOf('/'))}/root.${gone}`, Buffer.from('{}'));
      for (let second = 0; second < 250; second += 1)
        tx.write(
          `local/token-expiry/${String(second).padStart(12, '0')}/root/${gone}`,
          Buffer.from('{}'),
        );
      return Promise.resolve();
    });
    harness.clock.advance(61_000);
    await harness.settle('token-expiry');
    expect(await harness.store.scan('local/token-children/')).toEqual([]);
    expect(await harness.store.scan('local/token-expiry/')).toEqual([]);
  });

  test('a batch token of another format is refused by its number', async () => {
    const token = (await create({ policies: ['default'], type: 'batch', ttl: '1h' })).client_token;
    const [path, prefix] = ['batch-token', 'hvb.'];
    const sealed = Buffer.from(token.slice(prefix.length), 'base64url');
    const content = JSON.parse(Buffer.from(harness.barrier.decrypt(path, sealed)).toString());
    const withFormat = (format: unknown) => {
      const text = Buffer.from(JSON.stringify({ ...content, format }));
      return prefix + Buffer.from(harness.barrier.encrypt(path, text)).toString('base64url');
    };
    expect(await works(withFormat(content.format))).toBe(true);
    for (const format of [2, undefined]) {
      const answer = await call('GET', 'auth/token/lookup-self', { token: withFormat(format) });
      expect([answer.status, answer.body.errors]).toEqual([
        403,
        [`the batch token has format ${String(format)}, this version of Keelson reads format 1`],
      ]);
    }
  });

  test('a batch token works, ends with its parent, and cannot be renewed or revoked', async () => {
    const parent = (await create({ policies: ['root'] })).client_token;
    const batch = (await create({ policies: ['default'], type: 'batch', ttl: '1h' }, parent))
      .client_token;
    expect(batch).toMatch(/^hvb\./);
    expect(await works(batch)).toBe(true);
    const tampered = `${batch.slice(0, -2)}${batch.endsWith('AA') ? 'BB' : 'AA'}`;
    expect(await works(tampered)).toBe(false);
    expect(await refusal('auth/token/renew', { token: batch })).toEqual([
      400,
      'batch tokens cannot be renewed',
    ]);
    expect(await refusal('auth/token/revoke', { token: batch })).toEqual([
      400,
      'batch tokens cannot be revoked',
    ]);
    await call('POST', 'auth/token/revoke', { token: root, body: { token: parent } });
    expect(await works(batch)).toBe(false);
    const orphan = await create({
      policies: ['default'],
      type: 'batch',
      ttl: '1h',
      no_parent: true,
    });
    harness.clock.advance(3_600_000);
    expect(await works(orphan.client_token)).toBe(false);
  });

  test('look-ups by token and accessor answer and refuse as documented', async () => {
    const { client_token: token, accessor } = await create({ policies: ['default'] });
    const lookup = (path: string, body: Document) => call('POST', path, { token: root, body });
    expect((await lookup('auth/token/lookup', { token })).body.data.accessor).toBe(accessor);
    expect((await lookup('auth/token/lookup-accessor', { accessor })).body.data.id).toBe('');
    expect((await lookup('auth/token/lookup', { token: 'no' })).body).toEqual({
      errors: ['bad token'],
    });
    expect((await lookup('auth/token/lookup', { token: 'no' })).status).toBe(403);
    const unknown = await lookup('auth/token/lookup-accessor', { accessor: 'no' });
    expect([unknown.status, unknown.body.errors]).toEqual([400, ['invalid accessor']]);
    const { keys } = (await call('LIST', 'auth/token/accessors', { token: root })).body.data;
    expect(keys).toContain(accessor);
    await lookup('auth/token/revoke-accessor', { accessor });
    expect(await works(token)).toBe(false);
    expect((await lookup('auth/token/revoke', { token })).status).toBe(204);
    expect(await refusal('auth/token/revoke-orphan', { token })).toEqual([
      400,
      'token to revoke not found',
    ]);
    expect((await call('POST', 'auth/token/tidy', { token: root })).status).toBe(202);
  });

  test('every accessor of the namespace is listed, and none of another namespace', async () => {
    await call('POST', 'sys/namespaces/team', { token: root });
    const inTeam = await call('POST', 'team/auth/token/create', { token: root });
    const own = await call('GET', 'auth/token/lookup-self', { token: root });
    const made = await Promise.all(Array.from({ length: 40 }, () => create()));
    const listed = async (path: string): Promise<Set<string>> =>
      new Set((await call('LIST', path, { token: root })).body.data.keys);
    const accessors = [own.body.data.accessor, ...made.map(({ accessor }) => accessor)];
    expect(await listed('auth/token/accessors')).toEqual(new Set(accessors));
    expect(await listed('team/auth/token/accessors')).toEqual(new Set([inTeam.body.auth.accessor]));
  });

  test('tidying covers all tokens, however many there are', async () => {
    const parent = await create({ policies: ['root'] });
    await Promise.all(Array.from({ length: 450 }, () => create({}, parent.client_token)));
    const records = tokens.below('root');
    const [key = ''] =
      (await records.entries(harness.store)).find(
        ([, { accessor }]) => accessor === parent.accessor,
      ) ?? [];
    // The state after a crash between the removal of a token and that of its children.
    await harness.store.transact((tx) => tokens.delete(tx, 'root', key));
    expect((await call('POST', 'auth/token/tidy', { token: root })).status).toBe(202);
    expect(await records.keys(harness.store)).toHaveLength(1);
  });

  test('a token bound to a network is refused from other addresses', async () => {
    await call('POST', 'auth/token/roles/office', {
      token: root,
      body: { token_bound_cidrs: ['10.0.0.0/8', 'fd00::/8'] },
    });
    const { client_token: token } = (
      await call('POST', 'auth/token/create/office', { token: root })
    ).body.auth;
    const from = async (remoteAddress: string) =>
      (await call('GET', 'auth/token/lookup-self', { token, remoteAddress })).status;
    expect([await from('10.1.2.3'), await from('fd00::1'), await from('192.168.0.1')]).toEqual([
      200, 200, 403,
    ]);
  });

  test('a role bound to an invalid network is refused', async () => {
    const { status, body } = await call('POST', 'auth/token/roles/nowhere', {
      token: root,
      body: { token_bound_cidrs: ['10.0.0.0/8', '10.0.0.0/33'] },
    });
    expect([status, body.errors[0]]).toEqual([400, 'invalid CIDR or IP address: "10.0.0.0/33"']);
  });

  test('a token of a namespace is valid in it and below, not elsewhere', async () => {
    for (const name of ['a', 'b']) await call('POST', `sys/namespaces/${name}`, { token: root });
    await call('POST', 'sys/namespaces/child', { token: root, namespace: 'a' });
    const { client_token: token } = (
      await call('POST', 'auth/token/create', {
        token: root,
        namespace: 'a',
        body: { policies: ['root'] },
      })
    ).body.auth;
    expect(token).toMatch(/^hvs\.\w{24}\.\w{5}$/);
    const status = async (namespace: string) =>
      (await call('LIST', 'sys/policies/acl', { token, namespace })).status;
    expect([
      await status('a'),
      await status('a/child'),
      await status('b'),
      await status(''),
    ]).toEqual([200, 200, 403, 403]);
    expect(
      (await call('GET', 'a/auth/token/lookup-self', { token })).body.data.namespace_path,
    ).toBe('a/');
  });

  test('the worker removes expired tokens with their trees and everything that depends on them', async () => {
    const parent = (await create({ policies: ['root'], ttl: '1m' })).client_token;
    const child = (await create({ policies: ['default'] }, parent)).client_token;
    const body = { secret: 'x' };
    expect((await call('POST', 'cubbyhole/mine', { token: child, body })).status).toBe(204);
    await harness.sys.start();
    const left = async (): Promise<number> => {
      harness.clock.advance(61_000);
      const prefixes = ['tokens', 'token-accessors', 'token-children', 'token-expiry', 'cubbyhole'];
      const found = await Promise.all(prefixes.map((name) => harness.store.scan(`local/${name}/`)));
      return found.flat().length;
    };
    // The records of the root token and its accessor.
    await expect.poll(left).toBe(2);
  });
});
