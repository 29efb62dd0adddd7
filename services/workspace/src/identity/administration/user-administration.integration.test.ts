/**
 * Site administrators manage people:
 *
 * | what happens | effect |
 * | --- | --- |
 * | GET /admin/users, and one below it | every account, searched by name and address, filtered, counted |
 * | PATCH /admin/users/:id | name, address and rights, at once |
 * | suspend | every token of the user is refused at once, also where its rights are looked up later; no mails |
 * | DELETE | the account with tokens, memberships, recipients and addresses; ids remain in what others own |
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { archiveOf } from '../../../test/configuration-archive.ts';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';

const O = '/organizations/acme';
let harness: Harness;
let teamId: string;
beforeAll(async () => {
  // Nothing is sent: the server of mails does not answer.
  harness = await startHarness({
    config: { workspaceSmtpUrl: 'smtp://127.0.0.1:1', workspaceMailFrom: 'k@k.example' },
  });
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  const team = await harness.create(`${O}/teams`, 'teams', {
    name: 'workers',
    'organization-access': { 'manage-workspaces': true },
  });
  teamId = team.id;
});
afterAll(() => harness[Symbol.asyncDispose]());

const users = (attributes: object) => ({ data: { type: 'users', attributes } });
const act = (id: string, action: string, token?: string) =>
  harness.call('POST', `/admin/users/${id}/actions/${action}`, undefined, token);
const listed = async (query = '') => {
  const { list } = await harness.call('GET', `/admin/users?page[size]=100&${query}`);
  return list.map(({ attributes }) => attributes['username']);
};
const accountStatus = async (token: string) =>
  (await harness.call('GET', '/account/details', undefined, token)).status;

describe('the list of users', () => {
  test('is searched by name and address, filtered, counted and has pages', async () => {
    const ada = await harness.addUser('ada', teamId);
    await harness.addUser('grace');
    await act(ada.id, 'suspend');
    expect(await listed('q=ADA')).toEqual(['ada']);
    expect(await listed('q=grace@keel')).toEqual(['grace']);
    expect(await listed('q=nobody')).toEqual([]);
    expect(await listed('filter[admin]=true')).toEqual(['admin']);
    expect(await listed('filter[admin]=false')).not.toContain('admin');
    expect(await listed('filter[suspended]=true')).toEqual(['ada']);
    expect(await listed('filter[suspended]=false')).toEqual(['admin', 'grace']);
    const first = await harness.call('GET', '/admin/users?page[size]=1&include=organizations');
    expect(first.meta.pagination['total-count']).toBe(3);
    expect(first.meta['status-counts']).toEqual({ total: 3, suspended: 1, admin: 1 });
    expect(first.data).toMatchObject([
      {
        attributes: { username: 'ada', email: 'ada@keelson.example', 'is-suspended': true },
        relationships: { organizations: { data: [{ type: 'organizations', id: 'acme' }] } },
      },
    ]);
    expect(first.included.map(({ id }) => id)).toEqual(['acme']);
    for (const query of ['filter[admin]=maybe', 'filter[suspended]=1', 'include=teams'])
      expect((await harness.call('GET', `/admin/users?${query}`)).status).toBe(400);
    await act(ada.id, 'unsuspend');
  });
});

describe('an administrator', () => {
  test('changes name, address and rights of a user, at once', async () => {
    const { id, token } = await harness.addUser('linus');
    await harness.addUser('taken');
    const change = (attributes: object) =>
      harness.call('PATCH', `/admin/users/${id}`, users(attributes));
    await harness.call('PATCH', '/account/update', users({ email: 'l@other.example' }), token);
    const changed = await change({ username: 'torvalds', email: 'l@new.example' });
    expect(changed.data.attributes).toMatchObject({ username: 'torvalds', email: 'l@new.example' });
    expect((await harness.call('GET', `/admin/users/${id}`)).data).toEqual(changed.data);
    expect((await harness.call('GET', `/admin/users/${id}`, undefined, token)).status).toBe(404);
    expect((await harness.call('GET', '/admin/users/user-0')).status).toBe(404);
    const own = await harness.call('GET', '/account/details', undefined, token);
    expect(own.data.attributes['unconfirmed-email']).toBeNull();
    for (const wrong of [{ username: 'taken' }, { email: 'TAKEN@keelson.example' }, { email: 'x' }])
      expect((await change(wrong)).status).toBe(422);
    expect((await change({ 'is-site-admin': true })).data.attributes['is-admin']).toBe(true);
    expect((await harness.call('GET', '/admin/users', undefined, token)).status).toBe(200);
    expect((await act(id, 'revoke_admin')).data.attributes['is-admin']).toBe(false);
    expect((await harness.call('GET', '/admin/users', undefined, token)).status).toBe(404);
    expect((await act(id, 'grant_admin')).data.attributes['is-admin']).toBe(true);
    await act(id, 'revoke_admin');
  });

  test('does not end the own account or its rights, so that one administrator remains', async () => {
    const { data } = await harness.call('GET', '/account/details');
    for (const action of ['suspend', 'revoke_admin'])
      expect((await act(data.id, action)).status).toBe(409);
    const own = `/admin/users/${data.id}`;
    expect((await harness.call('PATCH', own, users({ 'is-site-admin': false }))).status).toBe(409);
    expect((await harness.call('DELETE', own)).status).toBe(409);
  });

  test('is told that a password has no effect', async () => {
    const given = { username: 'p', email: 'p@keelson.example', password: 'secret' };
    const { status, errors } = await harness.call('POST', '/admin/users', users(given));
    expect([status, errors[0]?.source?.pointer]).toEqual([422, '/data/attributes/password']);
    const { data } = await harness.call('GET', '/account/details');
    expect(data.attributes['auth-method']).toBe('token');
  });

  test('sees the tokens of everybody, with their owners', async () => {
    const { id } = await harness.addUser('owner-of-tokens');
    await harness.create(`/teams/${teamId}/authentication-token`, 'authentication-tokens', {});
    const all = await harness.call('GET', '/admin/authentication-tokens?page[size]=100');
    const owners = all.list.map(({ relationships }) => relationships['owner']?.data);
    expect(owners).toContainEqual({ type: 'users', id });
    expect(owners).toContainEqual({ type: 'teams', id: teamId });
    const ofTeams = await harness.call(
      'GET',
      '/admin/authentication-tokens?filter[owner-type]=teams&sort=-created-at',
    );
    expect(ofTeams.list.map(({ relationships }) => relationships['owner']?.data)).toEqual([
      { type: 'teams', id: teamId },
    ]);
  });
});

describe('a suspended user', () => {
  test('has no token that works, until the suspension ends', async () => {
    const { id, token } = await harness.addUser('mallory', teamId);
    expect((await act(id, 'suspend')).data.attributes['is-suspended']).toBe(true);
    expect(await accountStatus(token)).toBe(401);
    expect((await act(id, 'suspend')).status).toBe(400);
    expect((await act(id, 'unsuspend')).data.attributes['is-suspended']).toBe(false);
    expect((await act(id, 'unsuspend')).status).toBe(400);
    expect(await accountStatus(token)).toBe(200);
  });

  test('finishes no upload and no download that began before', async () => {
    const { id, token } = await harness.addUser('eve', teamId);
    const workspace = await harness.create(`${O}/workspaces`, 'workspaces', { name: 'eves' });
    const configurations = `/workspaces/${workspace.id}/configuration-versions`;
    const announced = await harness.call(
      'POST',
      configurations,
      {
        data: { type: 'configuration-versions', attributes: { 'auto-queue-runs': false } },
      },
      token,
    );
    const address = String(announced.data.attributes['upload-url']);
    const bytes = await archiveOf({ 'main.tf': '' });
    await act(id, 'suspend');
    expect((await harness.transfer('PUT', address, bytes)).status).toBe(404);
    await act(id, 'unsuspend');
    expect((await harness.transfer('PUT', address, bytes)).status).toBe(204);
    const path = `/configuration-versions/${announced.data.id}/download`;
    const { location = '' } = await harness.call('GET', path, undefined, token);
    await act(id, 'suspend');
    expect((await harness.transfer('GET', location)).status).toBe(404);
  });
});

describe('a deleted user', () => {
  test('leaves nothing personal in any record', async () => {
    const { id, token } = await harness.addUser('Forgotten', teamId);
    await harness.call(
      'PATCH',
      '/account/update',
      users({ email: 'forgotten.too@keelson.example' }),
      token,
    );
    const { data: workspace } = await harness.call('POST', `${O}/workspaces`, {
      data: { type: 'workspaces', attributes: { name: 'kept' } },
    });
    await harness.call('POST', `/workspaces/${workspace.id}/actions/lock`, {}, token);
    const recipients = { users: { data: [{ type: 'users', id }] } };
    const configuration = await harness.create(
      `/workspaces/${workspace.id}/notification-configurations`,
      'notification-configurations',
      {
        name: 'mail',
        'destination-type': 'email',
        enabled: false,
        triggers: ['run:errored'],
        'email-addresses': ['FORGOTTEN@keelson.example', 'other@keelson.example'],
      },
      { relationships: recipients },
    );
    expect((await harness.call('DELETE', `/admin/users/${id}`)).status).toBe(204);
    expect(await accountStatus(token)).toBe(401);
    expect((await harness.call('GET', `/users/${id}`)).status).toBe(404);
    expect(await listed('q=forgotten')).toEqual([]);
    const personal: string[] = [];
    for (const { path, value } of await harness.store.scan(''))
      if (/forgotten/i.test(`${path} ${Buffer.from(value).toString()}`)) personal.push(path);
    expect(personal).toEqual([]);
    const shown = await harness.call('GET', `/notification-configurations/${configuration.id}`);
    expect(shown.data.attributes['email-addresses']).toEqual(['other@keelson.example']);
    expect(shown.data.relationships['users']?.data).toEqual([]);
    // The lock is still there, by the id of nobody.
    const { data } = await harness.call('GET', `/workspaces/${workspace.id}`);
    expect(data.relationships['locked-by']?.data).toEqual({ type: 'users', id });
    const locked = await harness.call('POST', `/workspaces/${workspace.id}/actions/lock`, {});
    expect(locked.errors[0]?.detail).toContain(`It is held by User ${id}`);
    // Name and address are free again.
    await harness.addUser('forgotten');
  });

  test('is kept while an organization has no other owner', async () => {
    const { list } = await harness.call('GET', `${O}/teams?q=owners`);
    const { id, token } = await harness.addUser('last-owner', list[0]?.id ?? '');
    const { data: admin } = await harness.call('GET', '/account/details');
    const members = { data: [{ type: 'users', id: admin.id }] };
    const path = `/teams/${list[0]?.id}/relationships/users`;
    expect((await harness.call('DELETE', path, members)).status).toBe(204);
    const refused = await harness.call('DELETE', `/admin/users/${id}`);
    expect([refused.status, refused.errors[0]?.detail]).toEqual([
      409,
      expect.stringContaining('acme'),
    ]);
    expect((await harness.call('POST', path, members, token)).status).toBe(204);
    expect((await harness.call('DELETE', `/admin/users/${id}`)).status).toBe(204);
  });

  test('can be one who was invited and has not accepted', async () => {
    const made = await harness.create(`${O}/organization-memberships`, 'organization-memberships', {
      email: 'never@keelson.example',
    });
    const { id } = (made.relationships['user'] as { data: { id: string } }).data;
    expect((await harness.call('DELETE', `/admin/users/${id}`)).status).toBe(204);
    expect((await harness.call('GET', `/organization-memberships/${made.id}`)).status).toBe(404);
  });
});
