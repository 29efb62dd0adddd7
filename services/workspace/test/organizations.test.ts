/** Organizations with what they consist of: their settings, projects and teams. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarnessOf } from './workspace-harness.ts';

const O = '/organizations/acme';
let harness: Harness;
beforeAll(async () => {
  harness = await startHarnessOf('acme', 'globex');
});
afterAll(() => harness[Symbol.asyncDispose]());

const send = async (method: string, path: string, type: string, attributes: object) => {
  const { status, data, errors } = await harness.call(method, path, { data: { type, attributes } });
  return { status, attributes: data?.attributes, pointer: errors[0]?.source?.pointer };
};
const at = (name: string) => ({ status: 422, pointer: `/data/attributes/${name}` });

describe('an organization', () => {
  const change = (attributes: object) => send('PATCH', O, 'organizations', attributes);

  test.for([
    [{ name: 'a b' }, 'name'],
    [{ name: 'ab' }, 'name'],
    [{ name: 'globex' }, 'name'],
    [{ name: 'x'.repeat(41) }, 'name'],
    [{ email: 'nobody' }, 'email'],
    [{ email: `${'x'.repeat(65)}@b.example` }, 'email'],
    [{ email: `a@${'x'.repeat(191)}` }, 'email'],
  ] as const)('is neither made nor changed with %j', async ([given, name]) => {
    const made = { name: 'initech', email: 'a@b.example', ...given };
    expect(await send('POST', '/organizations', 'organizations', made)).toMatchObject(at(name));
    expect(await change(given)).toMatchObject(at(name));
  });

  test('may have the longest name and address', async () => {
    const longest = { name: 'x'.repeat(40), email: `${'x'.repeat(64)}@${'x'.repeat(190)}` };
    for (const given of [longest, { ...longest, name: 'xyz' }]) {
      const { attributes } = await send('POST', '/organizations', 'organizations', given);
      expect(attributes).toMatchObject(given);
    }
  });

  test('has no agent pool before there is one of its own', async () => {
    const pool = await harness.create(`${O}/agent-pools`, 'agent-pools', { name: 'ours' });
    const given = {
      name: 'initech',
      email: 'a@b.example',
      'default-execution-mode': 'agent',
      'default-agent-pool-id': pool.id,
    };
    expect(await send('POST', '/organizations', 'organizations', given)).toMatchObject(
      at('default-agent-pool-id'),
    );
  });

  test('keeps the settings that a change does not name', async () => {
    await change({ 'session-timeout': 30, 'allow-force-delete-workspaces': true });
    const { attributes } = await change({ 'session-remember': 60 });
    expect(attributes).toMatchObject({
      email: 'a@b.example',
      'session-timeout': 30,
      'session-remember': 60,
      'allow-force-delete-workspaces': true,
    });
    await change({ 'allow-force-delete-workspaces': false });
  });

  test('is renamed with all that is in it, and its former name is free', async () => {
    await harness.create('/organizations', 'organizations', { name: 'old', email: 'a@b.example' });
    await harness.create('/organizations/old/workspaces', 'workspaces', { name: 'kept' });
    await send('PATCH', '/organizations/old', 'organizations', { name: 'new' });
    expect((await harness.call('GET', '/organizations/new/workspaces/kept')).status).toBe(200);
    expect((await harness.call('GET', '/organizations/old')).status).toBe(404);
    await harness.create('/organizations', 'organizations', { name: 'old', email: 'a@b.example' });
  });

  test('is deleted without workspaces only, and its tokens and keys end with it', async () => {
    const path = '/organizations/gone';
    const countTokens = async () => (await harness.store.scan('shared/tokens/')).length;
    const before = await countTokens();
    await harness.create('/organizations', 'organizations', { name: 'gone', email: 'a@b.example' });
    const workspace = await harness.create(`${path}/workspaces`, 'workspaces', { name: 'last' });
    const key = { name: 'deploy', value: 'PRIVATE KEY' };
    const { id: keyId } = await harness.create(`${path}/ssh-keys`, 'ssh-keys', key);
    const single = `${path}/authentication-token`;
    await harness.create(single, 'authentication-tokens', {});
    expect(await countTokens()).toBe(before + 1);
    // The kind of token may be named, or be empty.
    for (const [kind, status] of [
      ['', 200],
      ['organization', 200],
      ['audit-trails', 404],
    ]) {
      expect((await harness.call('GET', `${single}?token=${kind}`)).status).toBe(status);
    }
    expect((await harness.call('DELETE', path)).status).toBe(409);
    await harness.call('DELETE', `/workspaces/${workspace.id}`);
    expect((await harness.call('DELETE', path)).status).toBe(204);
    expect((await harness.call('GET', path)).status).toBe(404);
    expect((await harness.call('GET', `/ssh-keys/${keyId}`)).status).toBe(404);
    expect(await harness.store.scan('shared/ssh-keys/')).toEqual([]);
    expect(await countTokens()).toBe(before);
  });

  test('may use states, teams and agents, but nothing that is not there', async () => {
    const { data } = await harness.call('GET', `${O}/entitlement-set`);
    const offered = Object.entries(data.attributes).filter(([, value]) => value === true);
    expect(offered.map(([name]) => name).toSorted()).toEqual([
      'agents',
      'audit-logging',
      'state-storage',
      'teams',
    ]);
  });
});

describe('a project', () => {
  test.for([
    [{ name: 'a!' }, 'name'],
    [{ name: 'Default Project' }, 'name'],
    [{ name: 'ab' }, 'name'],
    [{ name: 'x'.repeat(41) }, 'name'],
    [{ name: ' ab' }, 'name'],
    [{ name: 'ab ' }, 'name'],
    [{ name: 'Told', description: 'x'.repeat(257) }, 'description'],
    [{ name: 'Timed', 'auto-destroy-activity-duration': '0d' }, 'auto-destroy-activity-duration'],
  ] as const)('is not made with %j', async ([given, name]) => {
    expect(await send('POST', `${O}/projects`, 'projects', given)).toMatchObject(at(name));
  });

  test('may have the shortest and the longest texts, and keeps what a change does not name', async () => {
    await harness.create(`${O}/projects`, 'projects', { name: 'a b' });
    const longest = {
      name: 'x'.repeat(40),
      description: 'x'.repeat(256),
      'auto-destroy-activity-duration': '14d',
      'default-execution-mode': 'local',
    };
    const { id } = await harness.create(`${O}/projects`, 'projects', longest);
    const path = `/projects/${id}`;
    expect((await send('PATCH', path, 'projects', {})).attributes).toMatchObject(longest);
    // Its former name is free.
    await send('PATCH', path, 'projects', { name: 'Renamed' });
    const { name } = longest;
    expect((await send('POST', `${O}/projects`, 'projects', { name })).status).toBe(201);
  });

  test('that is the default one stays', async () => {
    const { data } = await harness.call('GET', '/organizations/globex');
    const project = data.relationships['default-project']?.data as { id: string };
    const path = `/projects/${project.id}`;
    expect((await harness.call('DELETE', path)).status).toBe(403);
    const mayDestroy = ({ attributes }: Awaited<ReturnType<typeof harness.create>>) =>
      (attributes['permissions'] as Record<string, boolean>)['can-destroy'];
    expect(mayDestroy((await harness.call('GET', path)).data)).toBe(false);
    const other = await harness.create(`${O}/projects`, 'projects', { name: 'Another' });
    expect(mayDestroy(other)).toBe(true);
  });
});

describe('a team', () => {
  const makeTeam = (attributes: object) => harness.create(`${O}/teams`, 'teams', attributes);

  test.for([
    [{ name: 'a/b' }, 'name'],
    [{ name: 'a b ' }, 'name'],
    [{ name: ' ' }, 'name'],
    [{ name: 'owners' }, 'name'],
    [{ name: 'x'.repeat(91) }, 'name'],
    [
      { name: 'x', 'organization-access': { 'manage-projects': true, 'manage-workspaces': false } },
      'organization-access/manage-workspaces',
    ],
    [
      { name: 'x', 'organization-access': { 'read-projects': true, 'read-workspaces': false } },
      'organization-access/read-workspaces',
    ],
  ] as const)('is not made with %j', async ([given, name]) => {
    expect(await send('POST', `${O}/teams`, 'teams', given)).toMatchObject(at(name));
  });

  test('has a name with spaces, by which it is found', async () => {
    const { id } = await makeTeam({ name: 'q team' });
    const named = async (name: string) =>
      (await harness.call('GET', `${O}/teams?filter[names]=${name}`)).list.map((team) => team.id);
    expect(await named('q team')).toEqual([id]);
    const renamed = await send('PATCH', `/teams/${id}`, 'teams', { name: 'foo bar' });
    expect(renamed.attributes?.['name']).toBe('foo bar');
    expect([await named('q team'), await named('foo bar')]).toEqual([[], [id]]);
  });

  test('keeps the access that a change does not name, and is secret at first', async () => {
    const { id, attributes } = await makeTeam({
      name: 'x'.repeat(90),
      'organization-access': { 'manage-workspaces': true },
    });
    expect(attributes['visibility']).toBe('secret');
    const changed = await send('PATCH', `/teams/${id}`, 'teams', {
      'organization-access': { 'manage-teams': true },
    });
    expect(changed.attributes?.['organization-access']).toMatchObject({
      'manage-workspaces': true,
      'manage-teams': true,
    });
  });

  test('keeps the narrower access as long as it has the wider one', async () => {
    const { id } = await makeTeam({
      name: 'wide',
      'organization-access': { 'manage-projects': true, 'read-projects': true },
    });
    const change = (access: object) =>
      send('PATCH', `/teams/${id}`, 'teams', { 'organization-access': access });
    for (const kind of ['manage', 'read']) {
      const narrower = { [`${kind}-workspaces`]: false };
      expect(await change(narrower)).toMatchObject(at(`organization-access/${kind}-workspaces`));
      const both = { ...narrower, [`${kind}-projects`]: false };
      expect((await change(both)).attributes?.['organization-access']).toMatchObject(both);
    }
  });

  test('that is secret is seen by its members, its like and who manages members', async () => {
    const secret = await makeTeam({ name: 'hidden' });
    const managing = await makeTeam({
      name: 'managing',
      'organization-access': { 'manage-membership': true },
    });
    const informed = await makeTeam({
      name: 'informed',
      'organization-access': { 'access-secret-teams': true },
    });
    const others = await makeTeam({ name: 'others', visibility: 'organization' });
    const seenBy = async (name: string, team: string) => {
      const { token } = await harness.addUser(name, team);
      const shown = [secret.id, others.id].map((id) =>
        harness.call('GET', `/teams/${id}`, undefined, token),
      );
      return (await Promise.all(shown)).map(({ status }) => status);
    };
    expect(await seenBy('a-member', secret.id)).toEqual([200, 200]);
    expect(await seenBy('a-manager', managing.id)).toEqual([200, 200]);
    expect(await seenBy('an-informed', informed.id)).toEqual([200, 200]);
    expect(await seenBy('an-other', others.id)).toEqual([404, 200]);
  });

  test('ends with its tokens and memberships', async () => {
    const { id } = await makeTeam({ name: 'ending' });
    const { token } = await harness.addUser('leaving', id);
    const path = `/teams/${id}/authentication-token`;
    const made = await harness.create(path, 'authentication-tokens', {});
    const ofTeam = String(made.attributes['token']);
    expect((await harness.call('GET', O, undefined, token)).status).toBe(200);
    expect((await harness.call('DELETE', `/teams/${id}`)).status).toBe(204);
    expect((await harness.call('GET', O, undefined, token)).status).toBe(404);
    expect((await harness.call('GET', '/account/details', undefined, ofTeam)).status).toBe(401);
    expect(await harness.store.scan(`shared/owned-tokens/${id}/`)).toEqual([]);
  });

  test('of owners is neither renamed, nor deleted, nor changed by who manages teams', async () => {
    const { list } = await harness.call('GET', `${O}/teams?filter[names]=owners`);
    const path = `/teams/${list[0]?.id}`;
    expect(await send('PATCH', path, 'teams', { name: 'kings' })).toMatchObject(at('name'));
    expect((await harness.call('DELETE', path)).status).toBe(403);
    const managing = await makeTeam({
      name: 'team-managers',
      'organization-access': { 'manage-teams': true },
    });
    const { id: userId, token } = await harness.addUser('climber', managing.id);
    const access = { 'organization-access': { 'manage-projects': true } };
    const users = { data: [{ type: 'users', id: userId }] };
    for (const [method, target, given] of [
      ['PATCH', path, { data: { type: 'teams', attributes: { visibility: 'secret' } } }],
      ['POST', `${path}/relationships/users`, users],
      ['POST', `${path}/authentication-token`, undefined],
      // Nor does it grant what it could not: a wider access of its own.
      ['PATCH', `/teams/${managing.id}`, { data: { type: 'teams', attributes: access } }],
      ['POST', `${O}/teams`, { data: { type: 'teams', attributes: { name: 'mine', ...access } } }],
    ] as const) {
      expect([target, (await harness.call(method, target, given, token)).status]).toEqual([
        target,
        404,
      ]);
    }
  });

  test('of owners is seen by every member, until it is made secret', async () => {
    const { list } = await harness.call('GET', `${O}/teams?filter[names]=owners`);
    const path = `/teams/${list[0]?.id}`;
    const { id } = await makeTeam({ name: 'members' });
    const { token } = await harness.addUser('a-plain-member', id);
    const seen = async () => {
      const all = await harness.call('GET', `${O}/teams?q=owners`, undefined, token);
      return [(await harness.call('GET', path, undefined, token)).status, all.list.length];
    };
    expect(await seen()).toEqual([200, 1]);
    await send('PATCH', path, 'teams', { visibility: 'secret' });
    expect(await seen()).toEqual([404, 0]);
    await send('PATCH', path, 'teams', { visibility: 'organization' });
  });

  test('has tokens that its members manage where it says so', async () => {
    const { id } = await makeTeam({ name: 'tokens', 'allow-member-token-management': false });
    const { token } = await harness.addUser('tokener', id);
    const issue = async () =>
      (await harness.call('POST', `/teams/${id}/authentication-token`, undefined, token)).status;
    expect(await issue()).toBe(404);
    await send('PATCH', `/teams/${id}`, 'teams', { 'allow-member-token-management': true });
    expect(await issue()).toBe(201);
  });
});
