/** Entities and aliases: who signs in, and what an entity adds to the rights of its tokens. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { joinMethod, type LoginVariant, logIn, mountMethod } from '../../test/login-steps.ts';
import { type Document, openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

let harness: SysHarness;
let people: { readonly uuid: string; readonly accessor: string };
beforeEach(async () => {
  harness = await openInitializedSys();
  await joinMethod(harness);
  people = await mountMethod(harness, 'people');
  await writePolicy('own', 'own');
  await writePolicy('team', 'team');
});
afterEach(() => harness.close());

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A policy that allows to read the mounts of another name: `sys/mounts/<name>`. */
const writePolicy = (name: string, mount: string, namespace = '') =>
  harness.asRoot('POST', `sys/policies/acl/${name}`, {
    namespace,
    body: { policy: `path "sys/mounts/${mount}" { capabilities = ["read"] }` },
  });

const put = (path: string, body: object, namespace = '') =>
  harness.asRoot('POST', `identity/${path}`, { namespace, body });
const read = async (path: string, namespace = ''): Promise<Document> =>
  (await harness.asRoot('GET', `identity/${path}`, { namespace })).body?.data;
const list = async (path: string, namespace = ''): Promise<Document> =>
  (await harness.asRoot('LIST', `identity/${path}`, { namespace })).body?.data;

/** Whether a token may read a mount: 403 if not, and 400 for one that does not exist. */
const mayRead = async (token: string, mount: string, namespace = ''): Promise<boolean> =>
  (await harness.call('GET', `sys/mounts/${mount}`, { token, namespace })).status !== 403;
const lookUp = (token: string) => harness.call('GET', 'auth/token/lookup-self', { token });
const signIn = (given: LoginVariant = {}) => logIn(harness, people.uuid, given);

describe('a login', () => {
  test('creates the entity of its alias, and finds it the next time', async () => {
    const first = await signIn({ aliasMetadata: { team: 'a' } });
    expect(first.entity_id).toMatch(UUID);
    expect((await signIn({ aliasMetadata: { team: 'b' } })).entity_id).toBe(first.entity_id);
    expect((await signIn({ aliasName: 'bob' })).entity_id).not.toBe(first.entity_id);
    const entity = await read(`entity/id/${first.entity_id}`);
    expect(entity).toMatchObject({
      name: `entity_${first.entity_id.slice(0, 8)}`,
      disabled: false,
      policies: [],
      metadata: null,
      namespace_id: 'root',
      aliases: [
        {
          canonical_id: first.entity_id,
          name: 'alice',
          metadata: { team: 'b' },
          mount_accessor: people.accessor,
          mount_path: 'auth/people/',
          mount_type: 'people',
        },
      ],
    });
    const { body } = await lookUp(first.client_token);
    expect(body.data.entity_id).toBe(first.entity_id);
    expect(body.data.identity_policies).toBeUndefined();
  });

  test('twice at the same time makes one entity', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => signIn()));
    expect(new Set(made.map(({ entity_id }) => entity_id)).size).toBe(1);
    expect((await list('entity/id')).keys).toHaveLength(1);
    expect((await list('entity-alias/id')).keys).toHaveLength(1);
  });

  test('without an alias, or at a mount of this cluster alone, is of no entity', async () => {
    const own = await mountMethod(harness, 'here', { local: true });
    for (const auth of [await signIn({ aliasName: '' }), await logIn(harness, own.uuid)])
      expect(auth).toMatchObject({ entity_id: '', identity_policies: null });
    expect(await list('entity/id')).toBeUndefined();
    const { body } = await put('entity-alias', { name: 'bob', mount_accessor: own.accessor });
    expect(body.errors).toEqual([expect.stringContaining('of a local mount')]);
  });

  test('answers with the policies of the entity beside those of the token', async () => {
    await put('entity', { name: 'alice', policies: ['team', 'Own'] });
    const { id } = await read('entity/name/alice');
    await put('entity-alias', { name: 'alice', canonical_id: id, mount_accessor: people.accessor });
    const auth = await signIn();
    expect(auth).toMatchObject({
      entity_id: id,
      policies: ['default', 'own', 'team'],
      token_policies: ['default', 'own'],
      identity_policies: ['own', 'team'],
    });
    const { body } = await lookUp(auth.client_token);
    expect(body.data).toMatchObject({
      policies: ['default', 'own'],
      identity_policies: ['own', 'team'],
    });
  });

  test.for(['service', 'batch'])('with a %s token carries the entity', async (tokenType) => {
    const auth = await signIn({ limits: { tokenType } });
    const { body } = await lookUp(auth.client_token);
    expect([body.data.type, body.data.entity_id]).toEqual([tokenType, auth.entity_id]);
    const { audit } = await harness.resolve('GET', 'auth/token/lookup-self', {
      token: auth.client_token,
    });
    expect(audit?.caller?.entityId).toBe(auth.entity_id);
  });

  test('at a mount that was moved to another namespace makes a new entity there', async () => {
    await harness.createNamespace('team');
    const before = await signIn();
    await harness.asRoot('POST', 'sys/remount', {
      body: { from: 'auth/people', to: 'team/auth/people' },
    });
    const after = await signIn();
    expect(after.entity_id).not.toBe(before.entity_id);
    expect(await read(`entity/id/${after.entity_id}`)).toBeUndefined();
    expect((await read(`entity/id/${after.entity_id}`, 'team')).aliases).toHaveLength(1);
    await harness.settle('departures');
    expect((await read(`entity/id/${before.entity_id}`)).aliases).toEqual([]);
    expect((await read(`entity/id/${after.entity_id}`, 'team')).aliases).toHaveLength(1);
  });
});

describe('the rights of a token', () => {
  test('include the policies of its entity from the next request on', async () => {
    const { client_token: token, entity_id: id } = await signIn();
    expect([await mayRead(token, 'own'), await mayRead(token, 'team')]).toEqual([true, false]);
    await put(`entity/id/${id}`, { policies: ['team'] });
    expect([await mayRead(token, 'own'), await mayRead(token, 'team')]).toEqual([true, true]);
    const asked = { token, body: { paths: ['sys/mounts/team'] } };
    const { body } = await harness.call('POST', 'sys/capabilities-self', asked);
    expect(body.data['sys/mounts/team']).toEqual(['read']);
    const others = await harness.asRoot('POST', 'sys/capabilities', {
      body: { token, paths: ['sys/mounts/team'] },
    });
    expect(others.body.data['sys/mounts/team']).toEqual(['read']);
    await put(`entity/id/${id}`, { policies: [] });
    expect(await mayRead(token, 'team')).toBe(false);
  });

  test('are those of each token for itself', async () => {
    const [alice, bob] = [await signIn(), await signIn({ aliasName: 'bob' })];
    await put(`entity/id/${bob.entity_id}`, { policies: ['team'] });
    expect(await mayRead(alice.client_token, 'team')).toBe(false);
    expect(await mayRead(bob.client_token, 'team')).toBe(true);
  });

  test('end while the entity is disabled, and it cannot sign in', async () => {
    const { client_token: token, entity_id: id, accessor } = await signIn();
    const batch = await signIn({ limits: { tokenType: 'batch' } });
    await put(`entity/id/${id}`, { disabled: true });
    for (const one of [token, batch.client_token]) expect((await lookUp(one)).status).toBe(403);
    await expect(signIn()).rejects.toMatchObject({ code: 'sys.permission_denied' });
    for (const path of ['auth/token/renew-accessor', 'auth/token/renew']) {
      const { status } = await harness.asRoot('POST', path, { body: { accessor, token } });
      expect(status).toBe(400);
    }
    const asked = { accessor, paths: ['sys/mounts/own'] };
    const { body } = await harness.asRoot('POST', 'sys/capabilities-accessor', { body: asked });
    expect(body.data.capabilities).toEqual(['deny']);
    await put(`entity/id/${id}`, { disabled: false });
    expect((await lookUp(token)).status).toBe(200);
    await put(`entity/id/${id}`, { disabled: true });
    const revoked = await harness.asRoot('POST', 'auth/token/revoke-accessor', {
      body: { accessor },
    });
    expect(revoked.status).toBe(204);
  });

  test('end with the entity, and its alias is a stranger afterwards', async () => {
    const { client_token: token, entity_id: id } = await signIn();
    await put(`entity/id/${id}`, { policies: ['team'] });
    await harness.asRoot('DELETE', `identity/entity/id/${id}`);
    expect((await lookUp(token)).status).toBe(403);
    expect(await list('entity-alias/id')).toBeUndefined();
    const again = await signIn();
    expect(again.entity_id).not.toBe(id);
    expect(await mayRead(again.client_token, 'team')).toBe(false);
    expect((await lookUp(token)).status).toBe(403);
  });

  test('pass to children, and not to orphans', async () => {
    await harness.asRoot('POST', 'sys/policies/acl/own', {
      body: {
        policy:
          'path "auth/token/create" { capabilities = ["update", "sudo"] } path "auth/token/create-orphan" { capabilities = ["update", "sudo"] }',
      },
    });
    const { client_token: token, entity_id: id } = await signIn();
    await put(`entity/id/${id}`, { policies: ['team'] });
    const make = async (path: string) =>
      (await harness.call('POST', path, { token, body: {} })).body.auth;
    const [child, orphan] = [
      await make('auth/token/create'),
      await make('auth/token/create-orphan'),
    ];
    expect([child.entity_id, orphan.entity_id]).toEqual([id, '']);
    expect(await mayRead(child.client_token, 'team')).toBe(true);
    expect(await mayRead(orphan.client_token, 'team')).toBe(false);
    await put(`entity/id/${id}`, { disabled: true });
    expect((await lookUp(child.client_token)).status).toBe(403);
    expect((await lookUp(orphan.client_token)).status).toBe(200);
  });

  test('of the default policy reach the own entity, and that of nobody else', async () => {
    const [alice, bob] = [await signIn(), await signIn({ aliasName: 'bob' })];
    const ask = async ({ client_token: token }: Document, path: string) =>
      (await harness.call('GET', `identity/entity/${path}`, { token })).status;
    for (const [one, other] of [
      [alice, bob],
      [bob, alice],
    ]) {
      expect(await ask(one, `id/${one.entity_id}`)).toBe(200);
      expect(await ask(one, `name/entity_${one.entity_id.slice(0, 8)}`)).toBe(200);
      expect(await ask(one, `id/${other.entity_id}`)).toBe(403);
    }
  });

  test('follow the aliases that a policy names', async () => {
    await harness.asRoot('POST', 'sys/policies/acl/own', {
      body: {
        policy: `path "sys/mounts/{{identity.entity.aliases.${people.accessor}.name}}" { capabilities = ["read"] }
path "sys/mounts/{{identity.entity.aliases.${people.accessor}.metadata.team}}" { capabilities = ["read"] }`,
      },
    });
    const alice = await signIn({ aliasMetadata: { team: 'red' } });
    const bob = await signIn({ aliasName: 'bob' });
    for (const [{ client_token }, allowed] of [
      [alice, ['alice', 'red']],
      [bob, ['bob']],
    ] as const)
      for (const name of ['alice', 'bob', 'red', 'blue'])
        expect([name, await mayRead(client_token, name)]).toEqual([
          name,
          (allowed as readonly string[]).includes(name),
        ]);
    await signIn({ aliasMetadata: { team: 'blue' } });
    expect(await mayRead(alice.client_token, 'red')).toBe(false);
    expect(await mayRead(alice.client_token, 'blue')).toBe(true);
  });
});

describe('a mount that is removed', () => {
  test('takes its aliases along, and a new one at the path knows nobody', async () => {
    const { client_token: token, entity_id: id } = await signIn();
    await put(`entity/id/${id}`, { policies: ['team'] });
    await harness.asRoot('DELETE', 'sys/auth/people');
    expect((await lookUp(token)).status).toBe(403);
    people = await mountMethod(harness, 'people');
    const again = await signIn();
    expect(again.entity_id).not.toBe(id);
    expect(await mayRead(again.client_token, 'team')).toBe(false);
    await harness.settle('departures');
    expect((await read(`entity/id/${id}`)).aliases).toEqual([]);
    expect((await list('entity-alias/id')).keys).toHaveLength(1);
  });

  test('takes any number of aliases along', async () => {
    for (let number = 0; number < 401; number += 1)
      await put('entity-alias', { name: `user-${number}`, mount_accessor: people.accessor });
    await signIn({ aliasName: '' });
    await harness.asRoot('DELETE', 'sys/auth/people');
    await harness.settle('departures');
    expect(await list('entity-alias/id')).toBeUndefined();
    expect((await list('entity/id')).keys).toHaveLength(401);
  });
});

describe('an entity', () => {
  test('is created, changed, read, listed and deleted by id and by name', async () => {
    const { status, body } = await put('entity', {
      name: 'Alice',
      policies: 'team,own',
      metadata: { team: 'a' },
    });
    expect([status, body.data]).toEqual([
      200,
      { aliases: null, id: expect.stringMatching(UUID), name: 'Alice' },
    ]);
    const { id } = body.data;
    expect((await put('entity/name/alice', { metadata: { team: 'b' } })).status).toBe(204);
    expect(await read('entity/name/ALICE')).toMatchObject({
      id,
      name: 'Alice',
      metadata: { team: 'b' },
      policies: ['own', 'team'],
      group_ids: [],
      merged_entity_ids: null,
    });
    expect((await put(`entity/id/${id}`, { name: 'ada' })).status).toBe(204);
    expect(await read('entity/name/alice')).toBeUndefined();
    expect(await list('entity/name')).toEqual({
      keys: ['ada'],
      key_info: { ada: { id, aliases: [] } },
    });
    expect(await list('entity/id')).toEqual({
      keys: [id],
      key_info: { [id]: { name: 'ada', aliases: [] } },
    });
    expect((await harness.asRoot('DELETE', 'identity/entity/name/Ada')).status).toBe(204);
    expect(await read(`entity/id/${id}`)).toBeUndefined();
    expect((await harness.asRoot('DELETE', `identity/entity/id/${id}`)).status).toBe(204);
  });

  test('is one of more than a hundred in a list', async () => {
    for (let number = 0; number < 101; number += 1) await put('entity', { name: `e-${number}` });
    expect((await list('entity/name')).keys).toHaveLength(101);
  });

  test('is deleted with others', async () => {
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c']) ids.push((await put('entity', { name })).body.data.id);
    const [a, b, c] = ids;
    const { status } = await put('entity/batch-delete', { entity_ids: [a, c, 'unknown'] });
    expect(status).toBe(204);
    expect((await list('entity/id')).keys).toEqual([b]);
  });

  test('is found by id, name, alias id, and alias name with its mount', async () => {
    const { body } = await put('entity-alias', {
      name: 'alice',
      mount_accessor: people.accessor,
      custom_metadata: { shirt: 'blue' },
    });
    const { id: alias_id, canonical_id: id } = body.data;
    const { name } = await read(`entity/id/${id}`);
    for (const asked of [
      { id },
      { name },
      { alias_id },
      { alias_name: 'alice', alias_mount_accessor: people.accessor },
    ])
      expect((await put('lookup/entity', asked)).body.data.id).toBe(id);
    for (const asked of [
      { id: alias_id },
      { name: 'nobody' },
      { alias_id: id },
      { alias_name: 'bob', alias_mount_accessor: people.accessor },
      { alias_name: 'alice', alias_mount_accessor: 'people_none' },
    ])
      expect((await put('lookup/entity', asked)).status).toBe(204);
    expect((await put('lookup/entity', { alias_name: 'alice' })).status).toBe(400);
    expect(await read(`entity-alias/id/${alias_id}`)).toMatchObject({
      canonical_id: id,
      custom_metadata: { shirt: 'blue' },
      local: false,
      metadata: null,
    });
  });

  test.for<[string, object, RegExp]>([
    ['entity', { name: 'a', policies: ['root'] }, /policies cannot contain root/],
    ['entity', { policies: ['response-wrapping'] }, /cannot assign policy "response-wrapping"/],
    ['entity', { id: 'none' }, /entity not found from id/],
    ['entity', { metadata: { '': 'v' } }, /a metadata key has 1 to 128 characters/],
    ['entity-alias', { name: 'a' }, /missing mount_accessor/],
    ['entity-alias', { name: 'a', mount_accessor: 'x' }, /invalid mount accessor "x"/],
    ['entity-alias/id/none', { name: 'a' }, /invalid alias ID provided/],
  ])('is refused at %s with %j', async ([path, body, text]) => {
    const answer = await put(path, body);
    expect([answer.status, answer.body.errors]).toEqual([400, [expect.stringMatching(text)]]);
    expect(await list('entity/id')).toBeUndefined();
  });

  test('has a name that is made where none is given, or an empty one', async () => {
    for (const given of [{}, { name: '' }]) {
      const { id, name } = (await put('entity', given)).body.data;
      expect(name).toBe(`entity_${id.slice(0, 8)}`);
      expect((await put(`entity/id/${id}`, { name: '', disabled: true })).status).toBe(204);
      expect(await read(`entity/id/${id}`)).toMatchObject({ name, disabled: true });
    }
  });

  test('has a name of its own, and one alias at a mount', async () => {
    const [a, b] = [
      (await put('entity', { name: 'a' })).body.data.id,
      (await put('entity', { name: 'b' })).body.data.id,
    ];
    expect((await put(`entity/id/${a}`, { name: 'B' })).body.errors).toEqual([
      'entity name is already in use',
    ]);
    expect((await put(`entity/id/${a}`, { name: 'A' })).status).toBe(204);
    const alias = { name: 'alice', mount_accessor: people.accessor, canonical_id: a };
    const made = (await put('entity-alias', alias)).body.data;
    expect((await put('entity-alias', { ...alias, name: 'other' })).body.errors).toEqual([
      expect.stringContaining('the entity has another alias'),
    ]);
    const moved = await put('entity-alias', { ...alias, canonical_id: b });
    const older = { name: 'alice', mount_accessor: people.accessor, entity_id: b };
    expect((await put('entity-alias', older)).body.data.canonical_id).toBe(b);
    expect(moved.body.data).toEqual({ id: made.id, canonical_id: b });
    expect((await signIn()).entity_id).toBe(b);
    const other = (await put('entity-alias', { ...alias, name: 'other' })).body.data;
    expect((await put(`entity-alias/id/${other.id}`, { name: 'alice' })).body.errors).toEqual([
      'the mount has another alias with this name',
    ]);
    await harness.asRoot('DELETE', `identity/entity-alias/id/${made.id}`);
    expect((await signIn()).entity_id).not.toBe(b);
  });

  test('of another namespace is unknown, and adds nothing there', async () => {
    await harness.createNamespace('team');
    await writePolicy('team', 'team', 'team');
    const { entity_id: id } = await signIn();
    await put(`entity/id/${id}`, { policies: ['team'] });
    expect(await read(`entity/id/${id}`, 'team')).toBeUndefined();
    const refused = await put(
      'entity-alias',
      { name: 'a', mount_accessor: people.accessor },
      'team',
    );
    expect(refused.status).toBe(400);
    const inTeam = await mountMethod(harness, 'people', { namespace: 'team' });
    const theirs = await logIn(harness, inTeam.uuid);
    expect(theirs.entity_id).not.toBe(id);
    expect(await mayRead(theirs.client_token, 'team', 'team')).toBe(false);
    const given = { name: 'a', canonical_id: id, mount_accessor: inTeam.accessor };
    expect((await put('entity-alias', given, 'team')).body.errors).toEqual([
      'invalid canonical ID',
    ]);
  });
});
