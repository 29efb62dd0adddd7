/** Groups: internal ones with entities and other groups, and external ones that methods report. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { joinMethod, type LoginVariant, logIn, mountMethod } from '../../test/login-steps.ts';
import { type Document, openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

let harness: SysHarness;
let people: { readonly uuid: string; readonly accessor: string };
beforeEach(async () => {
  harness = await openInitializedSys();
  await joinMethod(harness);
  people = await mountMethod(harness, 'people');
  for (const name of ['own', 'team', 'all'])
    await harness.asRoot('POST', `sys/policies/acl/${name}`, {
      body: { policy: `path "sys/mounts/${name}" { capabilities = ["read"] }` },
    });
});
afterEach(() => harness.close());

const put = (path: string, body: object, namespace = '') =>
  harness.asRoot('POST', `identity/${path}`, { namespace, body });
const read = async (path: string, namespace = ''): Promise<Document> =>
  (await harness.asRoot('GET', `identity/${path}`, { namespace })).body?.data;
const list = async (path: string): Promise<Document> =>
  (await harness.asRoot('LIST', `identity/${path}`)).body?.data;
const remove = (path: string) => harness.asRoot('DELETE', `identity/${path}`);
const refusal = async (asked: ReturnType<typeof put>): Promise<string> => {
  const { status, body } = await asked;
  expect(status).toBe(400);
  return body.errors[0];
};
const makeGroup = async (body: object, namespace = ''): Promise<string> => {
  const { status, body: made } = await put('group', body, namespace);
  expect([status, made.errors]).toEqual([200, undefined]);
  return made.data.id;
};
const mayRead = async (token: string, mount: string): Promise<boolean> =>
  (await harness.call('GET', `sys/mounts/${mount}`, { token })).status !== 403;
const signIn = (given: LoginVariant = {}) => logIn(harness, people.uuid, given);

/** An external group, and the alias by which the method reports it. */
const makeExternal = async (name: string, body: object = {}) => {
  const id = await makeGroup({ name, type: 'external', ...body });
  const alias = { name, mount_accessor: people.accessor, canonical_id: id };
  const { body: made } = await put('group-alias', alias);
  return { id, aliasId: made.data.id as string };
};

describe('the policies of a group', () => {
  test('count for its members from the next request on, and end with the membership', async () => {
    const { client_token: token, entity_id: id } = await signIn();
    const group = await makeGroup({ name: 'team', policies: ['team'], member_entity_ids: [id] });
    expect(await mayRead(token, 'team')).toBe(true);
    await put(`group/id/${group}`, { policies: [] });
    expect(await mayRead(token, 'team')).toBe(false);
    await put(`group/id/${group}`, { policies: ['team'] });
    expect(await mayRead(token, 'team')).toBe(true);
    await put(`group/id/${group}`, { member_entity_ids: [] });
    expect(await mayRead(token, 'team')).toBe(false);
    await put(`group/id/${group}`, { member_entity_ids: [id] });
    expect(await mayRead(token, 'team')).toBe(true);
    await remove(`group/id/${group}`);
    expect(await mayRead(token, 'team')).toBe(false);
  });

  test('count for members of members', async () => {
    const { client_token: token, entity_id: id } = await signIn();
    const inner = await makeGroup({ name: 'inner', member_entity_ids: [id] });
    const middle = await makeGroup({ name: 'middle', member_group_ids: [inner] });
    const outer = await makeGroup({ name: 'outer', policies: ['all'], member_group_ids: [middle] });
    expect(await mayRead(token, 'all')).toBe(true);
    expect(await read(`entity/id/${id}`)).toMatchObject({
      direct_group_ids: [inner],
      inherited_group_ids: [middle, outer].toSorted(),
      group_ids: [inner, middle, outer].toSorted(),
    });
    expect((await read(`group/id/${middle}`)).parent_group_ids).toEqual([outer]);
    expect((await signIn()).identity_policies).toEqual(['all']);
    await remove(`group/id/${middle}`);
    expect(await mayRead(token, 'all')).toBe(false);
    expect((await read(`group/id/${outer}`)).member_group_ids).toEqual([]);
  });

  test('do not count for an entity that is deleted, and its place in the group is free', async () => {
    const { client_token: token, entity_id: id } = await signIn();
    const group = await makeGroup({ name: 'team', policies: ['team'], member_entity_ids: [id] });
    await remove(`entity/id/${id}`);
    expect(await mayRead(token, 'team')).toBe(false);
    expect((await read(`group/id/${group}`)).member_entity_ids).toEqual([]);
  });

  test('may name the groups of the caller', async () => {
    const { client_token: token, entity_id: id } = await signIn();
    const group = await makeGroup({ name: 'red', member_entity_ids: [id] });
    await harness.asRoot('POST', 'sys/policies/acl/own', {
      body: {
        policy: `path "sys/mounts/{{identity.groups.ids.${group}.name}}" { capabilities = ["read"] }
path "sys/mounts/of-{{identity.groups.names.red.id}}" { capabilities = ["read"] }`,
      },
    });
    const other = await signIn({ aliasName: 'bob' });
    for (const path of ['red', `of-${group}`]) {
      expect(await mayRead(token, path)).toBe(true);
      expect(await mayRead(other.client_token, path)).toBe(false);
    }
    await put(`group/id/${group}`, { name: 'blue' });
    expect(await mayRead(token, 'red')).toBe(false);
    expect(await mayRead(token, 'blue')).toBe(true);
  });
});

describe('an external group', () => {
  test('has the entities whose method reports it, until a login no longer does', async () => {
    const { id } = await makeExternal('staff', { policies: ['team'] });
    const first = await signIn({ groupAliases: ['staff', 'unknown'] });
    expect(first.identity_policies).toEqual(['team']);
    const bob = await signIn({ aliasName: 'bob' });
    expect(await mayRead(bob.client_token, 'team')).toBe(false);
    expect((await read(`group/id/${id}`)).member_entity_ids).toEqual([first.entity_id]);
    expect((await read(`entity/id/${first.entity_id}`)).direct_group_ids).toEqual([id]);
    expect(await mayRead(first.client_token, 'team')).toBe(true);
    await signIn({ groupAliases: [] });
    expect(await mayRead(first.client_token, 'team')).toBe(false);
    expect((await read(`group/id/${id}`)).member_entity_ids).toEqual([]);
  });

  test('can be a member of an internal group', async () => {
    const { id } = await makeExternal('staff');
    await makeGroup({ name: 'everybody', policies: ['all'], member_group_ids: [id] });
    const { client_token: token } = await signIn({ groupAliases: ['staff'] });
    expect(await mayRead(token, 'all')).toBe(true);
  });

  test('of one mount is not that of another, whatever its name', async () => {
    await makeExternal('staff', { policies: ['team'] });
    const others = await mountMethod(harness, 'others');
    const auth = await logIn(harness, others.uuid, { groupAliases: ['staff'] });
    expect(auth.identity_policies).toBeNull();
  });

  test('loses its members with its alias, and with the mount', async () => {
    const { aliasId } = await makeExternal('staff', { policies: ['team'] });
    const { id: leads } = await makeExternal('leads', { policies: ['all'] });
    const { client_token: token } = await signIn({ groupAliases: ['staff', 'leads'] });
    expect([await mayRead(token, 'team'), await mayRead(token, 'all')]).toEqual([true, true]);
    await remove(`group-alias/id/${aliasId}`);
    expect([await mayRead(token, 'team'), await mayRead(token, 'all')]).toEqual([false, true]);
    await harness.asRoot('DELETE', 'sys/auth/people');
    await harness.settle('departures');
    expect(await list('group-alias/id')).toBeUndefined();
    people = await mountMethod(harness, 'people');
    const again = await signIn({ groupAliases: ['staff', 'leads'] });
    expect(again.identity_policies).toBeNull();
    expect((await read(`group/id/${leads}`)).member_entity_ids).toEqual([]);
  });

  test.for<[string, (ids: Readonly<Record<string, string>>) => object, RegExp]>([
    ['group', () => ({ name: 'x', type: 'other' }), /the type of a group is/],
    ['group/name/staff', () => ({ type: 'internal' }), /the type of a group cannot be changed/],
    ['group/name/staff', ({ entity }) => ({ member_entity_ids: [entity] }), /member_entity_ids/],
    ['group/name/staff', ({ inner }) => ({ member_group_ids: [inner] }), /member_group_ids/],
    ['group-alias', ({ mount }) => ({ name: 'a', mount_accessor: mount }), /missing canonical_id/],
    ['group-alias', ({ inner }) => ({ name: 'a', canonical_id: inner }), /missing mount_accessor/],
    [
      'group-alias',
      ({ inner, mount }) => ({ name: 'a', canonical_id: inner, mount_accessor: mount }),
      /external groups only/,
    ],
    [
      'group-alias',
      ({ staff, mount }) => ({ name: 'a', canonical_id: staff, mount_accessor: mount }),
      /the group has another alias/,
    ],
    ['group-alias/id/none', () => ({ name: 'a' }), /invalid group alias ID/],
  ])('is refused at %s', async ([path, bodyOf, text]) => {
    const { id: staff } = await makeExternal('staff');
    const inner = await makeGroup({ name: 'inner' });
    const { entity_id: entity } = await signIn();
    const body = bodyOf({ staff, inner, entity, mount: people.accessor });
    expect(await refusal(put(path, body))).toMatch(text);
  });
});

describe('a group', () => {
  test('is created, changed, read, listed, looked up and deleted', async () => {
    const { entity_id: entity } = await signIn();
    const made = await put('group', { name: 'Team', policies: 'team', metadata: { a: 'b' } });
    const { id } = made.body.data;
    expect(made.body.data).toEqual({ id, name: 'Team' });
    expect((await put('group/name/TEAM', { member_entity_ids: entity })).body.data.id).toBe(id);
    expect(await read('group/name/team')).toMatchObject({
      id,
      alias: {},
      member_entity_ids: [entity],
      member_group_ids: [],
      metadata: { a: 'b' },
      name: 'Team',
      parent_group_ids: [],
      policies: ['team'],
      type: 'internal',
    });
    expect((await put(`group/id/${id}`, { name: 'crew' })).status).toBe(200);
    const info = { alias: {}, num_member_entities: 1, num_parent_groups: 0 };
    expect(await list('group/id')).toEqual({
      keys: [id],
      key_info: { [id]: { name: 'crew', ...info } },
    });
    expect(await list('group/name')).toEqual({
      keys: ['crew'],
      key_info: { crew: { id, ...info } },
    });
    for (const asked of [{ id }, { name: 'Crew' }])
      expect((await put('lookup/group', asked)).body.data.id).toBe(id);
    expect((await remove('group/name/crew')).status).toBe(204);
    expect(await read(`group/id/${id}`)).toBeUndefined();
    expect((await put('lookup/group', { id })).status).toBe(204);
  });

  test('is found by its alias', async () => {
    const { id, aliasId: alias_id } = await makeExternal('staff');
    expect((await list('group-alias/id')).keys).toEqual([alias_id]);
    expect(await read(`group-alias/id/${alias_id}`)).toMatchObject({
      canonical_id: id,
      mount_path: 'auth/people/',
      name: 'staff',
    });
    expect((await read(`group/id/${id}`)).alias.id).toBe(alias_id);
    for (const asked of [
      { alias_id },
      { alias_name: 'staff', alias_mount_accessor: people.accessor },
    ])
      expect((await put('lookup/group', asked)).body.data.id).toBe(id);
    expect((await put('lookup/group', { alias_name: 'staff' })).status).toBe(400);
    expect((await put(`group-alias/id/${alias_id}`, { name: 'crew' })).status).toBe(200);
    expect((await signIn({ groupAliases: ['crew'] })).entity_id).not.toBe('');
    expect((await read(`group/id/${id}`)).member_entity_ids).toHaveLength(1);
  });

  test('is never a member of itself, also if two changes at the same time would make it so', async () => {
    const a = await makeGroup({ name: 'a' });
    const b = await makeGroup({ name: 'b', member_group_ids: [a] });
    const c = await makeGroup({ name: 'c', member_group_ids: [b] });
    for (const member of [a, b, c])
      expect(await refusal(put(`group/id/${a}`, { member_group_ids: [member] }))).toMatch(
        /member of itself/,
      );
    const [d, e] = [await makeGroup({ name: 'd' }), await makeGroup({ name: 'e' })];
    const answers = await Promise.all([
      put(`group/id/${d}`, { member_group_ids: [e] }),
      put(`group/id/${e}`, { member_group_ids: [d] }),
    ]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400]);
  });

  test('is in a chain of at most 16', async () => {
    const chain = [await makeGroup({ name: 'g-1' })];
    for (let length = 2; length <= 16; length += 1)
      chain.push(await makeGroup({ name: `g-${length}`, member_group_ids: [chain.at(-1)] }));
    const text = /a chain of more than 16 groups/;
    const beyond = put('group', { name: 'g-17', member_group_ids: [chain.at(-1)] });
    expect(await refusal(beyond)).toMatch(text);
    const below = await makeGroup({ name: 'below' });
    expect(await refusal(put(`group/id/${chain[0]}`, { member_group_ids: [below] }))).toMatch(text);
    const { client_token: token, entity_id: id } = await signIn();
    await put(`group/id/${chain[0]}`, { member_entity_ids: [id] });
    await put(`group/id/${chain.at(-1)}`, { policies: ['all'] });
    expect(await mayRead(token, 'all')).toBe(true);
  });

  test.for<[object, RegExp]>([
    [{ name: 'x', policies: ['root'] }, /policies cannot contain root/],
    [{ name: 'x', member_entity_ids: ['none'] }, /invalid member entity ID "none"/],
    [{ name: 'x', member_group_ids: ['none'] }, /invalid member group ID "none"/],
    [{ id: 'none' }, /group not found from id/],
  ])('is refused with %j', async ([body, text]) => {
    expect(await refusal(put('group', body))).toMatch(text);
    expect(await list('group/id')).toBeUndefined();
  });

  test('has a name that is made where none is given, or an empty one', async () => {
    for (const given of [{}, { name: '' }]) {
      const { id, name } = (await put('group', given)).body.data;
      expect(name).toMatch(/^group_/);
      expect((await put(`group/id/${id}`, { name: '', policies: ['a'] })).status).toBe(200);
      expect(await read(`group/id/${id}`)).toMatchObject({ name, policies: ['a'] });
    }
  });

  test('of another namespace has no members here', async () => {
    await harness.createNamespace('team');
    const { entity_id: id } = await signIn();
    const here = await makeGroup({ name: 'x' });
    for (const body of [{ member_entity_ids: [id] }, { member_group_ids: [here] }])
      expect(await refusal(put('group', { name: 'x', ...body }, 'team'))).toMatch(/invalid member/);
    expect(await read(`group/id/${here}`, 'team')).toBeUndefined();
    await makeGroup({ name: 'x' }, 'team');
  });

  test('is one of more than a hundred in a list', async () => {
    for (let number = 0; number < 101; number += 1) await makeGroup({ name: `g-${number}` });
    expect((await list('group/name')).keys).toHaveLength(101);
  });
});
