/** Entities that are merged: the tokens, aliases and memberships of all are those of the one that remains. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { joinMethod, logIn, mountMethod } from '../../test/login-steps.ts';
import { type Document, openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

let harness: SysHarness;
let people: { readonly uuid: string; readonly accessor: string };
let others: typeof people;
beforeEach(async () => {
  harness = await openInitializedSys();
  await joinMethod(harness);
  people = await mountMethod(harness, 'people');
  others = await mountMethod(harness, 'others');
  await harness.asRoot('POST', 'sys/policies/acl/team', {
    body: { policy: 'path "sys/mounts/team" { capabilities = ["read"] }' },
  });
});
afterEach(() => harness.close());

const put = (path: string, body: object) => harness.asRoot('POST', `identity/${path}`, { body });
const merge = (body: object) => put('entity/merge', body);
const read = async (path: string): Promise<Document> =>
  (await harness.asRoot('GET', `identity/${path}`)).body?.data;
const statusOf = async (token: string, path: string): Promise<number> =>
  (await harness.call('GET', path, { token })).status;

test('tokens of a merged entity are those of the remaining one', async () => {
  const [from, into] = [await logIn(harness, people.uuid), await logIn(harness, others.uuid)];
  const [fromId, intoId] = [from.entity_id, into.entity_id];
  await put(`entity/id/${fromId}`, { policies: ['web'], metadata: { team: 'a', floor: '1' } });
  await put(`entity/id/${intoId}`, { policies: ['team'], metadata: { team: 'b' } });
  const { data: group } = (await put('group', { name: 'g', member_entity_ids: [fromId] })).body;
  expect(await statusOf(from.client_token, 'sys/mounts/team')).toBe(403);
  expect((await merge({ from_entity_ids: [fromId], to_entity_id: intoId })).status).toBe(204);
  expect(await statusOf(from.client_token, 'sys/mounts/team')).toBe(400);
  expect(await read(`entity/id/${fromId}`)).toBeUndefined();
  const entity = await read(`entity/id/${intoId}`);
  expect(entity).toMatchObject({
    merged_entity_ids: [fromId],
    policies: ['team', 'web'],
    metadata: { team: 'b', floor: '1' },
    direct_group_ids: [group.id],
  });
  expect(entity.aliases).toHaveLength(2);
  expect((await logIn(harness, people.uuid)).entity_id).toBe(intoId);
  expect((await read(`group/id/${group.id}`)).member_entity_ids).toEqual([intoId]);
  await put(`entity/id/${intoId}`, { disabled: true });
  for (const { client_token } of [from, into])
    expect(await statusOf(client_token, 'auth/token/lookup-self')).toBe(403);
  await put(`entity/id/${intoId}`, { disabled: false });
  await harness.asRoot('DELETE', `identity/entity/id/${intoId}`);
  for (const { client_token } of [from, into])
    expect(await statusOf(client_token, 'auth/token/lookup-self')).toBe(403);
});

test('a chain of merges leads to the entity that remains', async () => {
  const made = [await logIn(harness, people.uuid), await logIn(harness, others.uuid)];
  const { id } = (await put('entity', { name: 'c', policies: ['team'] })).body.data;
  const [a, b] = made.map(({ entity_id }) => entity_id);
  await merge({ from_entity_ids: [a], to_entity_id: b });
  await merge({ from_entity_ids: [b], to_entity_id: id });
  for (const { client_token } of made)
    expect(await statusOf(client_token, 'sys/mounts/team')).toBe(400);
  expect((await read(`entity/id/${id}`)).merged_entity_ids).toEqual(expect.arrayContaining([a, b]));
});

test('an entity that is disabled is merged only into one that is, or after it was enabled', async () => {
  const [from, into] = [await logIn(harness, people.uuid), await logIn(harness, others.uuid)];
  const [fromId, intoId] = [from.entity_id, into.entity_id];
  const disable = (id: string, disabled: boolean) => put(`entity/id/${id}`, { disabled });
  const statuses = async () => [
    await statusOf(from.client_token, 'auth/token/lookup-self'),
    await statusOf(into.client_token, 'auth/token/lookup-self'),
  ];
  await disable(fromId, true);
  const body = { from_entity_ids: [fromId], to_entity_id: intoId };
  for (const given of [body, { ...body, force: true }]) {
    const { status, body: answer } = await merge(given);
    expect([status, answer.errors]).toEqual([400, [expect.stringMatching(/enable it first/)]]);
    expect(await statuses()).toEqual([403, 200]);
    expect((await read(`entity/id/${fromId}`)).disabled).toBe(true);
  }
  await disable(intoId, true);
  expect((await merge(body)).status).toBe(204);
  expect(await statuses()).toEqual([403, 403]);
  await disable(intoId, false);
  expect(await statuses()).toEqual([200, 200]);
});

test('an entity is merged into a disabled one, with which its tokens end', async () => {
  const [from, into] = [await logIn(harness, people.uuid), await logIn(harness, others.uuid)];
  await put(`entity/id/${into.entity_id}`, { disabled: true });
  const body = { from_entity_ids: [from.entity_id], to_entity_id: into.entity_id };
  expect((await merge(body)).status).toBe(204);
  expect(await statusOf(from.client_token, 'auth/token/lookup-self')).toBe(403);
});

test.for([
  [{}, 400, undefined],
  [{ force: true }, 204, 'bob'],
  [{ keeps: 'alice' }, 204, 'alice'],
  [{ keeps: 'bob' }, 204, 'bob'],
] as const)('of two aliases at one mount one remains, with %j', async ([given, status, name]) => {
  const [from, into] = [
    await logIn(harness, people.uuid),
    await logIn(harness, people.uuid, { aliasName: 'bob' }),
  ];
  const idOf = async ({ entity_id }: Document): Promise<string> =>
    (await read(`entity/id/${entity_id}`)).aliases[0].id;
  const ids = { alice: await idOf(from), bob: await idOf(into) };
  const answer = await merge({
    from_entity_ids: [from.entity_id],
    to_entity_id: into.entity_id,
    ...('force' in given && { force: true }),
    ...('keeps' in given && { conflicting_alias_ids_to_keep: [ids[given.keeps]] }),
  });
  expect(answer.status).toBe(status);
  const { aliases } = await read(`entity/id/${into.entity_id}`);
  expect(aliases.map((alias: Document) => alias.name)).toEqual([name ?? 'bob']);
});

test.for([
  [{ from_entity_ids: ['none'] }, /"none" to merge from is invalid/],
  [{ to_entity_id: 'none' }, /entity id to merge to is invalid/],
  [{ from_entity_ids: ['a', 'b'], to_entity_id: 'b' }, /cannot be one of from_entity_ids/],
  [{ from_entity_ids: Array.from({ length: 101 }, (_, at) => `${at}`) }, /at most 100 ids/],
] as const)('a merge is refused: case %#', async ([body, text]) => {
  const { id } = (await put('entity', { name: 'a' })).body.data;
  const answer = await merge({ from_entity_ids: [], to_entity_id: id, ...body });
  expect([answer.status, answer.body.errors]).toEqual([400, [expect.stringMatching(text)]]);
});
