import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';

let harness: Harness;
let projectId: string;
let workspaceId: string;

beforeAll(async () => {
  harness = await startHarness();
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  const project = await harness.create('/organizations/acme/projects', 'projects', { name: 'Web' });
  projectId = project.id;
  const workspace = await harness.create(
    '/organizations/acme/workspaces',
    'workspaces',
    { name: 'site' },
    { relationships: { project: { data: { type: 'projects', id: projectId } } } },
  );
  workspaceId = workspace.id;
});
afterAll(() => harness[Symbol.asyncDispose]());

let serial = 0;

/** A user whose team has this access to the project, and the user's permissions on the workspace. */
const permissionsWith = async (attributes: object) => {
  serial += 1;
  const team = await harness.create('/organizations/acme/teams', 'teams', { name: `t${serial}` });
  const grant = await harness.create('/team-projects', 'team-projects', attributes, {
    relationships: {
      team: { data: { type: 'teams', id: team.id } },
      project: { data: { type: 'projects', id: projectId } },
    },
  });
  const { token } = await harness.addUser(`user-${serial}`, team.id);
  const shown = await harness.call('GET', `/workspaces/${workspaceId}`, undefined, token);
  const create = await harness.call(
    'POST',
    '/organizations/acme/workspaces',
    {
      data: {
        type: 'workspaces',
        attributes: { name: `by-${serial}` },
        relationships: { project: { data: { type: 'projects', id: projectId } } },
      },
    },
    token,
  );
  return {
    grant,
    token,
    created: create.status,
    permissions: shown.data.attributes['permissions'] as Record<string, boolean>,
  };
};

describe('access to a project', () => {
  test.for([
    ['read', 404, { 'can-lock': false, 'can-update': false, 'can-read-run': true }],
    ['write', 404, { 'can-lock': true, 'can-update': false, 'can-queue-apply': true }],
    ['maintain', 201, { 'can-update': true, 'can-destroy': true, 'can-force-unlock': true }],
    ['admin', 201, { 'can-update': true, 'can-manage-run-tasks': true }],
  ] as const)('%s applies to its workspaces', async ([access, created, permissions]) => {
    const found = await permissionsWith({ access });
    expect(found.permissions).toMatchObject(permissions);
    expect(found.created).toBe(created);
    const isKept = created === 201;
    expect(found.grant.attributes['workspace-access']).toMatchObject({
      create: isKept,
      delete: isKept,
      'run-tasks': isKept,
      locking: access !== 'read',
      move: access === 'admin',
    });
  });

  test('can be composed of single rights', async () => {
    const { grant, permissions, created } = await permissionsWith({
      access: 'custom',
      'workspace-access': { runs: 'plan', locking: true, create: true },
    });
    expect(grant.attributes['workspace-access']).toMatchObject({ runs: 'plan', locking: true });
    expect(permissions).toMatchObject({
      'can-queue-run': true,
      'can-queue-apply': false,
      'can-lock': true,
      'can-read-variable': false,
    });
    expect(created).toBe(201);
  });

  test('accepts single rights only with the custom level', async () => {
    const team = await harness.create('/organizations/acme/teams', 'teams', { name: 'fixed' });
    const { status, errors } = await harness.call('POST', '/team-projects', {
      data: {
        type: 'team-projects',
        attributes: { access: 'read', 'workspace-access': { locking: true } },
        relationships: {
          team: { data: { type: 'teams', id: team.id } },
          project: { data: { type: 'projects', id: projectId } },
        },
      },
    });
    expect(status).toBe(422);
    expect(errors[0]).toMatchObject({
      // Public clients compare the text.
      detail: expect.stringMatching(/^Workspace-access is read-only when access level/) as string,
      source: { pointer: '/data/attributes/workspace-access' },
    });
  });

  test.for([
    ['team-workspaces', 'workspace'],
    ['team-projects', 'project'],
  ] as const)(
    'can be granted by %s once, and only to teams of the organization',
    async ([path, target]) => {
      await harness.create('/organizations', 'organizations', {
        name: `of-${path}`,
        email: 'a@b.example',
      });
      const makeTeam = async (organization: string) =>
        (await harness.create(`/organizations/${organization}/teams`, 'teams', { name: path })).id;
      const tryGrant = async (teamId: string) => {
        const id = target === 'project' ? projectId : workspaceId;
        const { status, errors } = await harness.call('POST', `/${path}`, {
          data: {
            type: path,
            attributes: { access: 'read' },
            relationships: {
              team: { data: { type: 'teams', id: teamId } },
              [target]: { data: { type: `${target}s`, id } },
            },
          },
        });
        return [status, errors[0]?.source?.pointer];
      };
      const refused = [422, '/data/relationships/team/data/id'];
      const team = await makeTeam('acme');
      expect(await tryGrant(team)).toEqual([201, undefined]);
      expect(await tryGrant(team)).toEqual(refused);
      expect(await tryGrant(await makeTeam(`of-${path}`))).toEqual(refused);
    },
  );

  test('that can read its teams cannot change their grants', async () => {
    const { grant, token } = await permissionsWith({
      access: 'custom',
      'project-access': { teams: 'read' },
    });
    const path = `/team-projects/${grant.id}`;
    const raised = { data: { type: 'team-projects', attributes: { access: 'admin' } } };
    expect((await harness.call('GET', path, undefined, token)).status).toBe(200);
    expect((await harness.call('PATCH', path, raised, token)).status).toBe(404);
    expect((await harness.call('DELETE', path, undefined, token)).status).toBe(404);
  });

  test('ends with its grant, from the next request on', async () => {
    const { grant, token } = await permissionsWith({ access: 'admin' });
    await harness.call('DELETE', `/team-projects/${grant.id}`);
    const shown = await harness.call('GET', `/workspaces/${workspaceId}`, undefined, token);
    expect(shown.status).toBe(404);
  });
});

/** All records but the events of the audit trail, which remember what is gone. */
const recordsNow = async () =>
  (await harness.store.scan('shared/')).filter(
    ({ path }) => !path.startsWith('shared/audit-events/'),
  );

describe('a grant', () => {
  const O = '/organizations/acme';
  const make = async (path: string, attributes: object) => {
    serial += 1;
    const team = await harness.create(`${O}/teams`, 'teams', { name: `t${serial}` });
    const target =
      path === 'team-projects'
        ? { project: { data: { type: 'projects', id: projectId } } }
        : { workspace: { data: { type: 'workspaces', id: workspaceId } } };
    const relationships = { team: { data: { type: 'teams', id: team.id } }, ...target };
    return harness.create(`/${path}`, path, attributes, { relationships });
  };
  const change = async (path: string, id: string, attributes: object) =>
    (await harness.call('PATCH', `/${path}/${id}`, { data: { type: path, attributes } })).data
      .attributes;

  test.for([
    ['team-workspaces', { variables: 'write' }, { runs: 'plan' }],
    [
      'team-projects',
      { 'project-access': { teams: 'read' }, 'workspace-access': { variables: 'write' } },
      { 'project-access': { settings: 'update' }, 'workspace-access': { runs: 'plan' } },
    ],
  ] as const)('of %s keeps the rights that an update omits', async (given) => {
    const [path, first, second] = given;
    const { id } = await make(path, { access: 'custom', ...first });
    // The own values apply again after a level with other rights.
    const read = await change(path, id, { access: 'read' });
    expect(read['access']).toBe('read');
    expect(read).not.toMatchObject(first);
    expect(await change(path, id, {})).toEqual(read);
    expect(await change(path, id, { access: 'custom' })).toMatchObject(first);
    const both = await change(path, id, second);
    expect(both).toMatchObject(first);
    expect(both).toMatchObject(second);
    expect(await change(path, id, {})).toEqual(both);
  });

  test.for(['team-workspaces', 'team-projects'])(
    'of %s leaves no access behind when it is deleted',
    async (path) => {
      const before = await recordsNow();
      const { id, relationships } = await make(path, { access: 'read' });
      const remove = () => harness.call('DELETE', `/${path}/${id}`);
      expect((await remove()).status).toBe(204);
      // The additional records are the team and its rows in the indexes.
      const known = new Set(before.map((record) => record.path));
      const added = (await recordsNow()).filter((record) => !known.has(record.path));
      expect(added.filter((record) => !/\/teams[/~]/.test(record.path))).toEqual([]);
      const next = await harness.create(`/${path}`, path, { access: 'read' }, { relationships });
      expect(next.id).not.toBe(id);
      expect((await remove()).status).toBe(404);
      expect((await harness.call('GET', `/${path}/${next.id}`)).status).toBe(200);
    },
  );

  test('on a workspace is listed by its team', async () => {
    const { id, relationships } = await make('team-workspaces', { access: 'read' });
    const team = relationships['team']?.data as { id: string };
    const listed = async (teamId: string) => {
      const filter = `filter[workspace][id]=${workspaceId}&filter[team][id]=${teamId}`;
      const { list } = await harness.call('GET', `/team-workspaces?${filter}`);
      return list.map((grant) => grant.id);
    };
    expect(await listed(team.id)).toEqual([id]);
    expect(await listed('team-none')).toEqual([]);
  });
});

describe('a custom right to move', () => {
  test('suffices on both projects, for one workspace and for several', async () => {
    const O = '/organizations/acme';
    const team = await harness.create(`${O}/teams`, 'teams', { name: 'movers' });
    const { token } = await harness.addUser('mover', team.id);
    const make = async (name: string, move: boolean) => {
      const project = await harness.create(`${O}/projects`, 'projects', { name });
      const given = { access: 'custom', 'workspace-access': { runs: 'read', move } };
      const relationships = {
        team: { data: { type: 'teams', id: team.id } },
        project: { data: { type: 'projects', id: project.id } },
      };
      await harness.create('/team-projects', 'team-projects', given, { relationships });
      return project.id;
    };
    const [from, to, closed] = [
      await make('From here', true),
      await make('To there', true),
      await make('Closed', false),
    ];
    const inProject = (id: string) => ({ project: { data: { type: 'projects', id } } });
    const made = await harness.create(
      `${O}/workspaces`,
      'workspaces',
      { name: 'moved', 'assessments-enabled': true },
      { relationships: inProject(from) },
    );
    const one = (project: string, attributes: object = {}) =>
      harness.call(
        'PATCH',
        `/workspaces/${made.id}`,
        { data: { type: 'workspaces', attributes, relationships: inProject(project) } },
        token,
      );
    const several = (project: string) =>
      harness.call(
        'POST',
        `/projects/${project}/relationships/workspaces`,
        { data: [{ type: 'workspaces', id: made.id }] },
        token,
      );
    expect([(await one(closed)).status, (await several(closed)).status]).toEqual([404, 403]);
    expect((await one(to, { description: 'x' })).status).toBe(404);
    expect((await one(from)).status).toBe(404);
    const moved = await one(to);
    expect(moved.data.relationships['project']?.data).toMatchObject({ id: to });
    // Nothing else of it changes.
    expect(moved.data.attributes['assessments-enabled']).toBe(true);
    expect((await several(from)).status).toBe(204);
  });
});

describe('an SSH key', () => {
  const assign = (data: unknown) =>
    harness.call('PATCH', `/workspaces/${workspaceId}/relationships/ssh-key`, { data });
  const keyOf = (reply: Awaited<ReturnType<typeof assign>>) =>
    reply.data.relationships['ssh-key']?.data;
  const make = () =>
    harness.create('/organizations/acme/ssh-keys', 'ssh-keys', {
      name: 'deploy',
      value: '-----BEGIN OPENSSH PRIVATE KEY-----',
    });

  test('can be assigned and removed in every known form, and its value is never shown', async () => {
    const key = await make();
    expect(key.id).toMatch(/^sshkey-[1-9A-HJ-NP-Za-km-z]{16}$/);
    expect(JSON.stringify(key)).not.toContain('PRIVATE KEY');
    const assigned = { id: key.id, type: 'ssh-keys' };
    expect(keyOf(await assign({ type: 'workspaces', attributes: { id: key.id } }))).toEqual(
      assigned,
    );
    expect(keyOf(await assign({ type: 'workspaces', attributes: { id: null } }))).toBeNull();
    expect(keyOf(await assign(assigned))).toEqual(assigned);
    expect(keyOf(await assign({ type: 'ssh-keys', id: null }))).toBeNull();
    expect(keyOf(await assign(assigned))).toEqual(assigned);
    expect(keyOf(await assign(null))).toBeNull();
    expect((await assign({ type: 'ssh-keys', id: 'sshkey-none' })).status).toBe(404);
  });

  test.for([
    [{ type: 'workspaces' }, '/data/attributes/id'],
    [{ type: 'workspaces', attributes: {} }, '/data/attributes/id'],
    [{ type: 'ssh-keys' }, '/data/id'],
  ] as const)('cannot be assigned or removed by %j', async ([data, pointer]) => {
    const key = await make();
    const assigned = { id: key.id, type: 'ssh-keys' };
    await assign(assigned);
    const { status, errors } = await assign(data);
    expect([status, errors[0]?.source]).toEqual([422, { pointer }]);
    expect(keyOf(await harness.call('GET', `/workspaces/${workspaceId}`))).toEqual(assigned);
  });

  test.for([
    [{ name: ' ', value: 'PRIVATE KEY' }, '/data/attributes/name'],
    [{ name: 'blank', value: ' ' }, '/data/attributes/value'],
  ] as const)('is not %j', async ([attributes, pointer]) => {
    const body = { data: { type: 'ssh-keys', attributes } };
    const { status, errors } = await harness.call('POST', '/organizations/acme/ssh-keys', body);
    expect([status, errors[0]?.source]).toEqual([422, { pointer }]);
  });

  test('accepts any text as value', async () => {
    const given = { name: 'from a vault', value: 'not in PEM' };
    const { id } = await harness.create('/organizations/acme/ssh-keys', 'ssh-keys', given);
    expect(keyOf(await assign({ type: 'ssh-keys', id }))).toEqual({ id, type: 'ssh-keys' });
  });

  test('can be renamed, but not to an empty name, and is listed oldest first', async () => {
    harness.clock.advance(1000);
    const older = await make();
    harness.clock.advance(1000);
    const newer = await make();
    const rename = (attributes: object) =>
      harness.call('PATCH', `/ssh-keys/${older.id}`, { data: { type: 'ssh-keys', attributes } });
    expect((await rename({ name: ' ' })).errors[0]?.source?.pointer).toBe('/data/attributes/name');
    expect((await rename({})).data.attributes).toEqual({ name: 'deploy' });
    expect((await rename({ name: 'renamed' })).data.attributes).toEqual({ name: 'renamed' });
    const { list } = await harness.call('GET', '/organizations/acme/ssh-keys');
    expect(list.slice(-2).map(({ id }) => id)).toEqual([older.id, newer.id]);
  });

  test('updates its workspace', async () => {
    const key = await make();
    harness.clock.advance(1000);
    const before = await harness.call('GET', `/workspaces/${workspaceId}`);
    const after = await assign({ type: 'ssh-keys', id: key.id });
    const at = ({ data }: typeof before) => Date.parse(String(data.attributes['updated-at']));
    expect(at(after)).toBeGreaterThan(at(before));
  });

  test('of another organization is not found', async () => {
    await harness.create('/organizations', 'organizations', { name: 'keys', email: 'a@b.example' });
    const key = await harness.create('/organizations/keys/ssh-keys', 'ssh-keys', {
      name: 'deploy',
      value: '-----BEGIN OPENSSH PRIVATE KEY-----',
    });
    expect((await assign({ type: 'ssh-keys', id: key.id })).status).toBe(404);
  });

  test('that is deleted is removed from all workspaces', async () => {
    const key = await make();
    await assign({ type: 'ssh-keys', id: key.id });
    const { length } = await recordsNow();
    await harness.call('DELETE', `/ssh-keys/${key.id}`);
    expect(await recordsNow()).toHaveLength(length - 2);
    expect(keyOf(await harness.call('GET', `/workspaces/${workspaceId}`))).toBeNull();
  });
});

describe('remote state consumers', () => {
  test('can be added, replaced and removed while the state is not shared with all', async () => {
    const path = `/workspaces/${workspaceId}/relationships/remote-state-consumers`;
    const [first, second] = await Promise.all(
      ['one', 'two'].map((name) =>
        harness.create('/organizations/acme/workspaces', 'workspaces', { name }),
      ),
    );
    const of = (...ids: (string | undefined)[]) => ({
      data: ids.map((id) => ({ type: 'workspaces', id })),
    });
    const shown = async () => (await harness.call('GET', path)).list.map(({ id }) => id);
    expect((await harness.call('POST', path, of(first?.id))).status).toBe(204);
    expect((await harness.call('POST', path, of(first?.id, second?.id))).status).toBe(204);
    expect(await shown()).toEqual([first?.id, second?.id]);
    expect((await harness.call('DELETE', path, of(first?.id))).status).toBe(204);
    expect(await shown()).toEqual([second?.id]);
    expect((await harness.call('PATCH', path, of(first?.id, first?.id))).status).toBe(204);
    expect(await shown()).toEqual([first?.id]);
    for (const method of ['POST', 'PATCH']) {
      const { status, errors } = await harness.call(method, path, of(second?.id, workspaceId));
      expect([status, errors[0]?.source]).toEqual([422, { pointer: '/data/1/id' }]);
      expect((await harness.call(method, path, of('ws-none'))).status).toBe(404);
    }
    expect(await shown()).toEqual([first?.id]);
    await harness.create('/organizations', 'organizations', { name: 'far', email: 'a@b.example' });
    const far = await harness.create('/organizations/far/workspaces', 'workspaces', {
      name: 'far',
    });
    expect((await harness.call('POST', path, of(far.id))).status).toBe(404);
    // A consumer is hidden from a caller who may not see it.
    const { token } = await permissionsWith({ access: 'read' });
    const seen = await harness.call('GET', path, undefined, token);
    expect([seen.list, seen.meta.pagination['total-count']]).toEqual([[], 0]);
    const global = { data: { type: 'workspaces', attributes: { 'global-remote-state': true } } };
    await harness.call('PATCH', `/workspaces/${workspaceId}`, global);
    for (const method of ['POST', 'PATCH', 'DELETE']) {
      const { status, errors } = await harness.call(method, path, of(second?.id));
      expect([status, errors[0]?.source]).toEqual([422, { pointer: '/data' }]);
    }
    expect(await shown()).not.toContain(workspaceId);
    expect(await shown()).toContain(second?.id);
    const configured = await harness.call('GET', `${path}?show_only_configured=true`);
    expect(configured.list.map(({ id }) => id)).toEqual([first?.id]);
  });

  test('are listed in pages, without deleted ones', async () => {
    const make = async (name: string) =>
      (await harness.create('/organizations/acme/workspaces', 'workspaces', { name })).id;
    const [producer, gone, kept] = await Promise.all(['p', 'gone', 'kept'].map(make));
    const path = `/workspaces/${producer}/relationships/remote-state-consumers`;
    const consumers = [gone, kept, workspaceId].map((id) => ({ type: 'workspaces', id }));
    await harness.call('POST', path, { data: consumers });
    await harness.call('DELETE', `/workspaces/${gone}`);
    const { list, meta } = await harness.call('GET', `${path}?page[size]=1&page[number]=2`);
    expect([list.map(({ id }) => id), meta.pagination['total-count']]).toEqual([[workspaceId], 2]);
  });
});
