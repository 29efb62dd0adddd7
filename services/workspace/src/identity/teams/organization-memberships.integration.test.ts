import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';

const O = '/organizations/acme';
let harness: Harness;
let teamId: string;
beforeAll(async () => {
  harness = await startHarness();
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  teamId = (await harness.create(`${O}/teams`, 'teams', { name: 'readers' })).id;
});
afterAll(() => harness[Symbol.asyncDispose]());

const inviteAs = (token: string | undefined, email: string, ...teamIds: readonly string[]) =>
  harness.call(
    'POST',
    `${O}/organization-memberships`,
    {
      data: {
        type: 'organization-memberships',
        attributes: { email },
        relationships: { teams: { data: teamIds.map((id) => ({ type: 'teams', id })) } },
      },
    },
    token,
  );
const invite = (email: string, ...teamIds: readonly string[]) =>
  inviteAs(undefined, email, ...teamIds);

describe('a membership', () => {
  test('is created by address, visible to its user, and removed from all teams when it ends', async () => {
    const { id, token } = await harness.addUser('ada');
    expect((await harness.call('GET', O, undefined, token)).status).toBe(404);
    const made = await invite('Ada@keelson.example', teamId);
    expect(made.status).toBe(201);
    expect(made.data.relationships['user']?.data).toEqual({ id, type: 'users' });
    expect((await harness.call('GET', O, undefined, token)).status).toBe(200);
    const own = await harness.call('GET', '/organization-memberships', undefined, token);
    expect(own.list.map((membership) => membership.id)).toEqual([made.data.id]);
    const found = await harness.call('GET', `${O}/organization-memberships?q=ada`);
    expect(found.list.map((membership) => membership.id)).toEqual([made.data.id]);
    const counted = async (query: string) =>
      (await harness.call('GET', `${O}/organization-memberships?q=ada&${query}`)).list.length;
    expect(await counted('filter[status]=invited,active')).toBe(1);
    expect(await counted('filter[status]=invited')).toBe(0);
    expect((await invite('ada@keelson.example', teamId)).status).toBe(422);
    const path = `/organization-memberships/${made.data.id}`;
    expect((await harness.call('GET', path, undefined, token)).data.id).toBe(made.data.id);
    expect((await harness.call('DELETE', path, undefined, token)).status).toBe(404);
    expect((await harness.call('DELETE', path)).status).toBe(204);
    expect((await harness.call('GET', path)).status).toBe(404);
    expect((await harness.call('GET', O, undefined, token)).status).toBe(404);
  });

  test('is found by parts of name and address, and by the address in any case', async () => {
    await harness.addUser('zuse', teamId);
    await harness.addUser('byron', teamId);
    const namesOf = async (query: string) => {
      const { list } = await harness.call('GET', `${O}/organization-memberships?${query}`);
      return list.map(({ attributes }) => String(attributes['email']).split('@')[0]);
    };
    expect(await namesOf('q=ZUSE@keel')).toEqual(['zuse']);
    expect(await namesOf('filter[email]=Zuse@Keelson.example,byron@keelson.example')).toEqual([
      'byron',
      'zuse',
    ]);
  });

  test('does not need a team', async () => {
    const { id } = await harness.addUser('grace');
    const made = await harness.call('POST', `${O}/organization-memberships`, {
      data: {
        type: 'organization-memberships',
        attributes: { email: 'grace@keelson.example' },
      },
    });
    expect(made.data).toMatchObject({
      attributes: { status: 'invited' },
      relationships: { user: { data: { type: 'users', id } }, teams: { data: [] } },
    });
  });

  test('of an owner can be created and removed only by owners', async () => {
    const managing = await harness.create(`${O}/teams`, 'teams', {
      name: 'managing',
      'organization-access': { 'manage-membership': true },
    });
    const { token } = await harness.addUser('manager', managing.id);
    await harness.addUser('mary');
    const { list } = await harness.call('GET', `${O}/teams?q=owners`);
    const owners = list[0]?.id ?? '';
    expect((await inviteAs(token, 'mary@keelson.example', owners)).status).toBe(404);
    expect((await inviteAs(token, 'mary@keelson.example', teamId, owners)).status).toBe(404);
    const made = await invite('mary@keelson.example', owners);
    const path = `/organization-memberships/${made.data.id}`;
    expect((await harness.call('GET', path, undefined, token)).status).toBe(200);
    expect((await harness.call('DELETE', path, undefined, token)).status).toBe(404);
    expect((await harness.call('DELETE', path)).status).toBe(204);
    expect((await inviteAs(token, 'mary@keelson.example', teamId)).status).toBe(201);
  });

  test('accepts only teams of its organization', async () => {
    const name = 'initech';
    await harness.create('/organizations', 'organizations', { name, email: 'a@b.example' });
    const theirs = await harness.create(`/organizations/${name}/teams`, 'teams', { name: 't' });
    await harness.addUser('peter');
    expect((await invite('peter@keelson.example', theirs.id)).status).toBe(404);
  });

  test('of the last owner cannot be removed', async () => {
    const { list } = await harness.call('GET', `${O}/organization-memberships?q=admin`);
    const path = `/organization-memberships/${list[0]?.id}`;
    expect((await harness.call('DELETE', path)).status).toBe(403);
  });
});

describe('the memberships of a team', () => {
  test('are added and removed by id, and included with the team', async () => {
    const { id: userId, token } = await harness.addUser('joan', teamId);
    const { id } = (await harness.call('GET', '/organization-memberships', undefined, token))
      .list[0] ?? { id: '' };
    const team = (await harness.create(`${O}/teams`, 'teams', { name: 'writers' })).id;
    const path = `/teams/${team}/relationships/organization-memberships`;
    const body = { data: [{ type: 'organization-memberships', id }] };
    expect((await harness.call('POST', path, body)).status).toBe(204);
    expect((await harness.call('POST', path, body)).status).toBe(204);
    expect((await harness.call('GET', path)).list.map((one) => one.id)).toEqual([id]);
    const shown = await harness.call(
      'GET',
      `/teams/${team}?include=organization-memberships,users`,
    );
    expect(shown.data.relationships['organization-memberships']?.data).toEqual(body.data);
    expect(shown.included.map((one) => one.id).toSorted()).toEqual([id, userId].toSorted());
    const user = shown.included.find((one) => one.id === userId);
    expect(user?.attributes).not.toHaveProperty('email');
    // Email addresses are shown only to callers who manage members.
    expect((await harness.call('GET', path, undefined, token)).status).toBe(404);
    const seen = await harness.call(
      'GET',
      `/teams/${team}?include=organization_memberships`,
      undefined,
      token,
    );
    expect(seen.data.relationships['organization-memberships']?.data).toEqual(body.data);
    expect(seen.included).toEqual([]);
    expect((await harness.call('DELETE', path, body)).status).toBe(204);
    expect((await harness.call('GET', path)).list).toEqual([]);
    expect((await harness.call('GET', O, undefined, token)).status).toBe(200);
  });

  test('accept user names in any case and ids, and the membership remains after the last team', async () => {
    const { id: userId } = await harness.addUser('Konrad');
    const other = (await harness.create(`${O}/teams`, 'teams', { name: 'others' })).id;
    const change = async (method: string, team: string, id: string) => {
      const path = `/teams/${team}/relationships/users`;
      return (await harness.call(method, path, { data: [{ type: 'users', id }] })).status;
    };
    const found = async () =>
      (await harness.call('GET', `${O}/organization-memberships?q=konrad`)).list;
    expect(await change('POST', teamId, 'KONRAD')).toBe(204);
    const [before] = await found();
    harness.clock.advance(1000);
    expect(await change('POST', other, userId)).toBe(204);
    const [after] = await found();
    expect([after?.id, after?.attributes]).toEqual([before?.id, before?.attributes]);
    const teams = [teamId, other].map((id) => ({ type: 'teams', id }));
    expect(after?.relationships['teams']?.data).toEqual(teams);
    for (const [team, id] of [
      [teamId, 'konrad'],
      [teamId, 'konrad'],
      [other, userId],
      [other, userId],
    ] as const) {
      expect(await change('DELETE', team, id)).toBe(204);
    }
    const [left] = await found();
    expect([left?.id, left?.relationships['teams']?.data]).toEqual([before?.id, []]);
    for (const method of ['POST', 'DELETE'])
      expect(await change(method, other, 'no-one')).toBe(400);
  });

  test('can be added by managers of the team if the users are already in the organization', async () => {
    const access = { 'organization-access': { 'manage-membership': true } };
    const stewards = await harness.create(`${O}/teams`, 'teams', { name: 'stewards', ...access });
    const { token } = await harness.addUser('steward', stewards.id);
    await harness.addUser('outside');
    const change = async (method: string, name: string, by?: string) => {
      const body = { data: [{ type: 'users', id: name }] };
      const path = `/teams/${teamId}/relationships/users`;
      const { status, errors } = await harness.call(method, path, body, by);
      return [status, errors[0]?.detail.replace(name, 'X')];
    };
    // The response does not reveal whether the name exists elsewhere.
    const refused = [400, expect.stringContaining('there is no user X in the organization')];
    for (const name of ['outside', 'nowhere']) {
      expect(await change('POST', name, token)).toEqual(refused);
      expect(await change('DELETE', name, token)).toEqual(refused);
    }
    expect(await change('POST', 'steward', token)).toEqual([204, undefined]);
    expect(await change('POST', 'outside')).toEqual([204, undefined]);
    expect(await change('DELETE', 'outside', token)).toEqual([204, undefined]);
  });

  test('must belong to its organization', async () => {
    await harness.create('/organizations', 'organizations', {
      name: 'globex',
      email: 'a@b.example',
    });
    const theirs = await harness.create('/organizations/globex/teams', 'teams', { name: 'theirs' });
    const { token } = await harness.addUser('ken', theirs.id);
    const { list } = await harness.call('GET', '/organization-memberships', undefined, token);
    const path = `/teams/${teamId}/relationships/organization-memberships`;
    for (const id of [list[0]?.id, 'ou-none']) {
      const body = { data: [{ type: 'organization-memberships', id }] };
      expect((await harness.call('POST', path, body)).status).toBe(400);
      expect((await harness.call('DELETE', path, body)).status).toBe(400);
    }
  });

  test('of the owners always include at least one', async () => {
    const { list } = await harness.call('GET', `${O}/organization-memberships?q=admin`);
    const owners = list[0]?.relationships['teams']?.data as readonly { id: string }[];
    const path = `/teams/${owners[0]?.id}/relationships/organization-memberships`;
    const body = { data: [{ type: 'organization-memberships', id: list[0]?.id }] };
    expect((await harness.call('DELETE', path, body)).status).toBe(403);
  });
});

test('the user that a membership includes carries the address of the membership', async () => {
  await harness.addUser('addressed');
  const email = 'addressed@keelson.example';
  const made = await invite(email);
  expect(made.included[0]?.attributes).toMatchObject({ username: 'addressed', email });
  const path = '/organizations/acme/organization-memberships';
  const found = await harness.call('GET', `${path}?filter[email]=${email}&include=user`);
  expect(found.included).toEqual(made.included);
  const one = await harness.call('GET', `/organization-memberships/${made.data.id}?include=user`);
  expect(one.included).toEqual(made.included);
  // Whoever sees the user alone does not see the address.
  const { data } = await harness.call('GET', `/users/${made.included[0]?.id}`);
  expect(data.attributes['email']).toBeUndefined();
});
