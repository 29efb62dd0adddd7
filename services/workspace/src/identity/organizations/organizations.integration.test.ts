/** Organizations with what they consist of: their settings, projects and teams. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarnessOf } from '../../../test/workspace-harness.ts';

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
    [{ name: 'x'.repeat(91) }, 'name'],
    [{ email: 'nobody' }, 'email'],
    [{ email: `${'x'.repeat(65)}@b.example` }, 'email'],
    [{ email: `a@${'x'.repeat(191)}` }, 'email'],
  ] as const)('cannot be created or updated with %j', async ([given, name]) => {
    const made = { name: 'initech', email: 'a@b.example', ...given };
    expect(await send('POST', '/organizations', 'organizations', made)).toMatchObject(at(name));
    expect(await change(given)).toMatchObject(at(name));
  });

  test('accepts a name and an address of maximum length', async () => {
    const longest = { name: 'x'.repeat(90), email: `${'x'.repeat(64)}@${'x'.repeat(190)}` };
    for (const given of [longest, { ...longest, name: 'xyz' }]) {
      const { attributes } = await send('POST', '/organizations', 'organizations', given);
      expect(attributes).toMatchObject(given);
    }
  });

  test('accepts only agent pools of its own', async () => {
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

  test('can be renamed with its content, which frees the former name', async () => {
    await harness.create('/organizations', 'organizations', { name: 'old', email: 'a@b.example' });
    await harness.create('/organizations/old/workspaces', 'workspaces', { name: 'kept' });
    await send('PATCH', '/organizations/old', 'organizations', { name: 'new' });
    expect((await harness.call('GET', '/organizations/new/workspaces/kept')).status).toBe(200);
    expect((await harness.call('GET', '/organizations/old')).status).toBe(404);
    await harness.create('/organizations', 'organizations', { name: 'old', email: 'a@b.example' });
  });

  test('is deleted with its workspaces, tokens and keys', async () => {
    const path = '/organizations/gone';
    const countTokens = async () => (await harness.store.scan('shared/tokens/')).length;
    const before = await countTokens();
    await harness.create('/organizations', 'organizations', { name: 'gone', email: 'a@b.example' });
    const workspaces = await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        harness.create(`${path}/workspaces`, 'workspaces', { name: `w-${at}` }),
      ),
    );
    const [workspace] = workspaces;
    await harness.call('POST', `/workspaces/${workspace?.id}/actions/lock`);
    const key = { name: 'deploy', value: 'PRIVATE KEY' };
    const { id: keyId } = await harness.create(`${path}/ssh-keys`, 'ssh-keys', key);
    const single = `${path}/authentication-token`;
    await harness.create(single, 'authentication-tokens', {});
    await harness.create(`${single}?token=audit-trails`, 'authentication-tokens', {});
    expect(await countTokens()).toBe(before + 2);
    // The kind of token may be given or left empty.
    for (const [kind, status] of [
      ['', 200],
      ['organization', 200],
      ['audit-trails', 200],
      ['other', 404],
    ]) {
      expect((await harness.call('GET', `${single}?token=${kind}`)).status).toBe(status);
    }
    // A caller who may not delete the organization deletes none of its workspaces.
    const team = await harness.create(`${path}/teams`, 'teams', {
      name: 'all',
      'organization-access': { 'manage-workspaces': true, 'manage-projects': true },
    });
    const other = await harness.addUser('manager-of-gone', team.id);
    expect((await harness.call('DELETE', path, undefined, other.token)).status).toBe(404);
    expect((await harness.call('GET', `/workspaces/${workspace?.id}`)).status).toBe(200);
    await harness.call('DELETE', `/users/${other.id}`);
    const tokens = await countTokens();
    expect((await harness.call('DELETE', path)).status).toBe(204);
    expect((await harness.call('GET', `/workspaces/${workspace?.id}`)).status).toBe(404);
    expect((await harness.call('GET', path)).status).toBe(404);
    expect((await harness.call('GET', `/ssh-keys/${keyId}`)).status).toBe(404);
    expect(await harness.store.scan('shared/ssh-keys/')).toEqual([]);
    expect(await countTokens()).toBe(tokens - 2);
    expect(await harness.store.scan('shared/workspace-names/')).not.toContainEqual(
      expect.stringContaining('w-1'),
    );
  });

  test('rejects a document of another name, and reports all errors at once', async () => {
    const patch = (data: object) =>
      harness.call('PATCH', O, { data: { type: 'organizations', ...data } });
    expect((await patch({ id: 'globex', attributes: {} })).status).toBe(409);
    expect((await patch({ id: 'acme', attributes: {} })).status).toBe(200);
    const { errors } = await patch({
      attributes: { name: 'x'.repeat(300), email: 'nobody', 'session-timeout': 0 },
    });
    const pointers = ['email', 'name', 'session-timeout'].map((name) => `/data/attributes/${name}`);
    expect(new Set(errors.map(({ source }) => source?.pointer))).toEqual(new Set(pointers));
  });

  test('accepts its default agent pool as attribute or relationship', async () => {
    const pool = await harness.create('/organizations/globex/agent-pools', 'agent-pools', {
      name: 'theirs',
    });
    const related = { data: { type: 'agent-pools', id: pool.id } };
    const projects = '/organizations/globex/projects';
    const project = await harness.create(projects, 'projects', { name: 'Pooled' });
    for (const [path, type] of [
      ['/organizations/globex', 'organizations'],
      [`/projects/${project.id}`, 'projects'],
    ] as const) {
      const patch = (attributes: object, relationship?: object) =>
        harness.call('PATCH', path, {
          data: { type, attributes, relationships: { 'default-agent-pool': relationship } },
        });
      const { data } = await patch({ 'default-execution-mode': 'agent' }, related);
      expect(data.relationships['default-agent-pool']).toMatchObject(related);
      const both = await patch({ 'default-agent-pool-id': 'apool-other' }, related);
      expect([both.status, both.errors[0]?.source]).toEqual([
        422,
        { pointer: '/data/relationships/default-agent-pool' },
      ]);
      const none = await patch({ 'default-execution-mode': 'remote' }, { data: null });
      expect(none.data.relationships['default-agent-pool']?.data).toBeNull();
      const unneeded = await patch({}, related);
      expect([unneeded.status, unneeded.errors[0]?.detail]).toEqual([
        422,
        expect.stringContaining('must not be specified unless'),
      ]);
    }
  });

  test.for([
    [{ 'collaborator-auth-policy': 'two_factor_mandatory' }, 'collaborator-auth-policy'],
    [{ 'enforce-hyok': true }, 'enforce-hyok'],
    [{ 'registry-monorepo-support-enabled': true }, 'registry-monorepo-support-enabled'],
  ] as const)('refuses settings that would have no effect: %j', async ([given, name]) => {
    const made = { name: 'initech', email: 'a@b.example', ...given };
    expect(await send('POST', '/organizations', 'organizations', made)).toMatchObject(at(name));
    expect(await change(given)).toMatchObject(at(name));
  });

  test('warns of settings it accepts without effect, and shows unsupported features as off', async () => {
    const given = {
      'collaborator-auth-policy': 'password',
      'enforce-hyok': false,
      'max-ttl-enabled': false,
      'stacks-enabled': true,
      'session-timeout': 60,
    };
    const body = { data: { type: 'organizations', attributes: given } };
    const { status, data, meta } = await harness.call('PATCH', O, body);
    expect([status, meta.warnings]).toEqual([
      200,
      [
        expect.stringMatching(/^session-timeout has no effect: /),
        expect.stringMatching(/^stacks-enabled has no effect: /),
      ],
    ]);
    expect(data.attributes).toMatchObject({ ...given, 'stacks-enabled': false });
    const none = { data: { type: 'organizations', attributes: { 'session-timeout': null } } };
    expect((await harness.call('PATCH', O, none)).meta).toBeUndefined();
  });

  test('without user tokens is visible only to owners and team tokens', async () => {
    const team = await harness.create(`${O}/teams`, 'teams', {
      name: 'readers',
      'organization-access': { 'read-workspaces': true },
    });
    const { id } = await harness.create(`${O}/workspaces`, 'workspaces', { name: 'guarded' });
    const { token } = await harness.addUser('reader', team.id);
    const path = `/teams/${team.id}/authentication-token`;
    const made = await harness.create(path, 'authentication-tokens', {});
    const seenBy = async (by: string) => {
      const paths = [O, `/workspaces/${id}`, `${O}/workspaces`, `/teams/${team.id}`];
      const shown = await Promise.all(paths.map((at) => harness.call('GET', at, undefined, by)));
      const listed = await harness.call('GET', '/organizations', undefined, by);
      return [...shown.map(({ status }) => status), listed.list.length];
    };
    expect(await seenBy(token)).toEqual([200, 200, 200, 200, 1]);
    const off = await change({ 'user-tokens-enabled': false });
    expect(off.attributes?.['user-tokens-enabled']).toBe(false);
    expect(await seenBy(token)).toEqual([404, 404, 404, 404, 0]);
    expect(await seenBy(String(made.attributes['token']))).toEqual([200, 200, 200, 200, 1]);
    expect((await harness.call('GET', O)).status).toBe(200);
    const on = await change({ 'user-tokens-enabled': true });
    expect(on.attributes?.['user-tokens-enabled']).toBe(true);
    expect(await seenBy(token)).toEqual([200, 200, 200, 200, 1]);
  });

  test('has entitlements for states, teams and agents, and for no unsupported feature', async () => {
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
    [{ name: 'Timed', 'auto-destroy-activity-duration': '' }, 'auto-destroy-activity-duration'],
  ] as const)('cannot be created with %j', async ([given, name]) => {
    expect(await send('POST', `${O}/projects`, 'projects', given)).toMatchObject(at(name));
  });

  test('accepts texts of minimum and maximum length, and keeps attributes that an update omits', async () => {
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
    // The former name becomes available again.
    await send('PATCH', path, 'projects', { name: 'Renamed' });
    const { name } = longest;
    expect((await send('POST', `${O}/projects`, 'projects', { name })).status).toBe(201);
  });

  test('that is the default cannot be deleted', async () => {
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
  ] as const)('cannot be created with %j', async ([given, name]) => {
    expect(await send('POST', `${O}/teams`, 'teams', given)).toMatchObject(at(name));
  });

  test('can have spaces in its name, and is found by it', async () => {
    const { id } = await makeTeam({ name: 'q team' });
    const named = async (name: string) =>
      (await harness.call('GET', `${O}/teams?filter[names]=${name}`)).list.map((team) => team.id);
    expect(await named('q team')).toEqual([id]);
    const renamed = await send('PATCH', `/teams/${id}`, 'teams', { name: 'foo bar' });
    expect(renamed.attributes?.['name']).toBe('foo bar');
    expect([await named('q team'), await named('foo bar')]).toEqual([[], [id]]);
  });

  test('is secret by default, and keeps the access that an update omits', async () => {
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

  test('keeps the narrower access while it has the wider one', async () => {
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

  test('that is secret is visible to its members, to callers with access to secret teams, and to those who manage members', async () => {
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

  test('ends with its tokens, and leaves its members in the organization', async () => {
    const { id } = await makeTeam({ name: 'ending' });
    const { token } = await harness.addUser('leaving', id);
    const path = `/teams/${id}/authentication-token`;
    const made = await harness.create(path, 'authentication-tokens', {});
    const ofTeam = String(made.attributes['token']);
    expect((await harness.call('GET', O, undefined, token)).status).toBe(200);
    expect((await harness.call('DELETE', `/teams/${id}`)).status).toBe(204);
    expect((await harness.call('GET', O, undefined, token)).status).toBe(200);
    expect((await harness.call('GET', '/account/details', undefined, ofTeam)).status).toBe(401);
    expect(await harness.store.scan(`shared/owned-tokens/${id}/`)).toEqual([]);
  });

  test('of owners cannot be renamed, deleted, or changed by managers of teams', async () => {
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
      // A token cannot grant access wider than its own either.
      ['PATCH', `/teams/${managing.id}`, { data: { type: 'teams', attributes: access } }],
      ['POST', `${O}/teams`, { data: { type: 'teams', attributes: { name: 'mine', ...access } } }],
    ] as const) {
      expect([target, (await harness.call(method, target, given, token)).status]).toEqual([
        target,
        404,
      ]);
    }
  });

  test('of owners is visible to every member until it is made secret', async () => {
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

  test('lets members manage its tokens if configured', async () => {
    const { id } = await makeTeam({ name: 'tokens', 'allow-member-token-management': false });
    const { token } = await harness.addUser('tokener', id);
    const issue = async () =>
      (await harness.call('POST', `/teams/${id}/authentication-token`, undefined, token)).status;
    expect(await issue()).toBe(404);
    await send('PATCH', `/teams/${id}`, 'teams', { 'allow-member-token-management': true });
    expect(await issue()).toBe(201);
  });
});
