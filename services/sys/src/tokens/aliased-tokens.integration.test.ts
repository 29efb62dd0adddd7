/** Tokens that a role creates with the name of a client, whose entity they get. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type Document,
  openInitializedSys,
  type SysHarness,
  type SysRequest,
} from '../../test/sys-harness.ts';

let harness: SysHarness;
beforeEach(async () => {
  harness = await openInitializedSys();
  await harness.asRoot('POST', 'sys/policies/acl/team', {
    body: { policy: 'path "sys/mounts/team" { capabilities = ["read"] }' },
  });
});
afterEach(() => harness.close());

const putRole = async (role: object, request: SysRequest = {}): Promise<void> => {
  const answer = await harness.asRoot('POST', 'auth/token/roles/ci', { ...request, body: role });
  expect([answer.status, answer.body?.errors]).toEqual([204, undefined]);
};
const create = (body: object, request: SysRequest = {}) =>
  (request.token === undefined ? harness.asRoot : harness.call)('POST', 'auth/token/create/ci', {
    ...request,
    body,
  });
const created = async (body: object, request: SysRequest = {}): Promise<Document> => {
  const answer = await create(body, request);
  expect([answer.status, answer.body.errors]).toEqual([200, undefined]);
  return answer.body.auth;
};
const statusOf = async (token: string, path = 'auth/token/lookup-self'): Promise<number> =>
  (await harness.call('GET', path, { token })).status;
const putEntity = (id: string, body: object) =>
  harness.asRoot('POST', `identity/entity/id/${id}`, { body });

describe('a token with an alias', () => {
  test.for(['service', 'batch'])('gets its entity, as a %s token', async (type) => {
    await putRole({ allowed_entity_aliases: ['web-*'], orphan: true, renewable: false });
    const {
      client_token: token,
      entity_id: id,
      token_type,
    } = await created({
      entity_alias: 'web-1',
      policies: ['own'],
      type,
    });
    expect(token_type).toBe(type);
    const { data: entity } = (await harness.asRoot('GET', `identity/entity/id/${id}`)).body;
    const { accessor } = (await harness.asRoot('GET', 'sys/auth/token')).body.data;
    expect(entity.aliases).toMatchObject([{ name: 'web-1', mount_accessor: accessor }]);
    expect(await statusOf(token, 'sys/mounts/team')).toBe(403);
    await putEntity(id, { policies: ['team'] });
    expect(await statusOf(token, 'sys/mounts/team')).toBe(400);
    await putEntity(id, { disabled: true });
    expect(await statusOf(token)).toBe(403);
    const again = { entity_alias: 'web-1', policies: ['own'], type };
    expect((await create(again)).status).toBe(403);
    await putEntity(id, { disabled: false });
    expect(await statusOf(token)).toBe(200);
    expect((await created(again)).entity_id).toBe(id);
    await harness.asRoot('DELETE', `identity/entity/id/${id}`);
    expect(await statusOf(token)).toBe(403);
  });

  test('has the entity to which an operator has given the alias', async () => {
    await putRole({ allowed_entity_aliases: 'Bot' });
    const { id } = (await harness.asRoot('POST', 'identity/entity', { body: { name: 'robot' } }))
      .body.data;
    const { accessor } = (await harness.asRoot('GET', 'sys/auth/token')).body.data;
    await harness.asRoot('POST', 'identity/entity-alias', {
      body: { name: 'bot', mount_accessor: accessor, canonical_id: id },
    });
    expect((await created({ entity_alias: 'bot' })).entity_id).toBe(id);
    expect((await created({ entity_alias: 'BOT' })).entity_id).not.toBe(id);
  });

  test('does not have the entity of its parent, but ends with it', async () => {
    await putRole({ allowed_entity_aliases: ['*'] });
    await harness.asRoot('POST', 'sys/policies/acl/creator', {
      body: { policy: 'path "auth/token/create/ci" { capabilities = ["update"] }' },
    });
    const parent = await created({ entity_alias: 'alice', policies: ['creator'] });
    const as = { token: parent.client_token };
    const inherits = await created({}, as);
    const other = await created({ entity_alias: 'bot' }, as);
    const batch = await created({ entity_alias: 'bot', type: 'batch' }, as);
    expect(inherits.entity_id).toBe(parent.entity_id);
    expect(other.entity_id).not.toBe(parent.entity_id);
    const statuses = async () => [
      await statusOf(inherits.client_token),
      await statusOf(other.client_token),
      await statusOf(batch.client_token),
    ];
    await putEntity(parent.entity_id, { disabled: true });
    expect(await statuses()).toEqual([403, 403, 403]);
    await putEntity(parent.entity_id, { disabled: false });
    expect(await statuses()).toEqual([200, 200, 200]);
    await putEntity(other.entity_id, { disabled: true });
    expect(await statuses()).toEqual([200, 403, 403]);
  });

  test('has an entity of the namespace of the request', async () => {
    await harness.asRoot('POST', 'sys/namespaces/team');
    const there = { namespace: 'team' };
    await putRole({ allowed_entity_aliases: ['web'] });
    await putRole({ allowed_entity_aliases: ['web'] }, there);
    const here = await created({ entity_alias: 'web' });
    const { entity_id: id } = await created({ entity_alias: 'web' }, there);
    expect(id).not.toBe(here.entity_id);
    expect((await harness.asRoot('GET', `identity/entity/id/${id}`)).status).toBe(404);
    expect((await harness.asRoot('GET', `identity/entity/id/${id}`, there)).status).toBe(200);
  });

  test('is one of a single entity, however many are created at once', async () => {
    await putRole({ allowed_entity_aliases: ['web'] });
    const made = await Promise.all(
      Array.from({ length: 8 }, () => created({ entity_alias: 'web' })),
    );
    expect(new Set(made.map(({ entity_id }) => entity_id)).size).toBe(1);
  });
});

describe('allowed_entity_aliases', () => {
  test('is shown in lower case, and keeps its value until it is given again', async () => {
    const shown = async () =>
      (await harness.asRoot('GET', 'auth/token/roles/ci')).body.data.allowed_entity_aliases;
    await putRole({});
    expect(await shown()).toEqual([]);
    await putRole({ allowed_entity_aliases: ['Web-*', 'web-*', 'bot'] });
    expect(await shown()).toEqual(['web-*', 'bot']);
    await putRole({ orphan: true });
    expect(await shown()).toEqual(['web-*', 'bot']);
    await putRole({ allowed_entity_aliases: [] });
    expect(await shown()).toEqual([]);
  });

  test.for([
    ['web', 'web', true],
    ['web', 'WEB', true],
    ['web', 'web-1', false],
    ['web-*', 'web-', true],
    ['*-web', 'a-web', true],
    ['a*c*e', 'abcde', true],
    ['a*c*e', 'ace', true],
    ['a*c*e', 'ae', false],
    ['ab*ba', 'aba', false],
    ['w.b', 'web', false],
    ['w?b', 'web', false],
    ['web', '*', false],
    ['*', 'anybody', true],
  ] as const)('"%s" and the alias "%s": %s', async ([rule, alias, isAllowed]) => {
    await putRole({ allowed_entity_aliases: ['other', rule] });
    const { status, body } = await create({ entity_alias: alias });
    expect([status, body.errors]).toEqual(
      isAllowed
        ? [200, undefined]
        : [400, [`invalid 'entity_alias' value: the role "ci" does not allow "${alias}"`]],
    );
    const { status: listed } = await harness.asRoot('LIST', 'identity/entity-alias/id');
    expect(listed).toBe(isAllowed ? 200 : 404);
  });

  test.for([
    ['auth/token/create/ci', /the role "ci" does not allow "web"/],
    ['auth/token/create', /'entity_alias' is only allowed in combination with token role/],
    ['auth/token/create-orphan', /'entity_alias' is only allowed in combination with token role/],
  ] as const)('no alias is allowed unless a role names it: %s', async ([path, text]) => {
    await putRole({});
    const { status, body } = await harness.asRoot('POST', path, { body: { entity_alias: 'web' } });
    expect([status, body.errors]).toEqual([400, [expect.stringMatching(text)]]);
  });
});
