/** The document of a workspace: every attribute with its type, every relationship, link and permission. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';

const O = '/organizations/acme';
let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
});
afterAll(() => harness[Symbol.asyncDispose]());

let serial = 0;
const create = (attributes: object = {}, relationships: object = {}) =>
  harness.create(
    `${O}/workspaces`,
    'workspaces',
    { name: `w-${(serial += 1)}`, ...attributes },
    { relationships },
  );
const show = async (id: string, token?: string) =>
  (await harness.call('GET', `/workspaces/${id}`, undefined, token)).data;

const BOOLEANS = [
  'allow-destroy-plan',
  'auto-apply',
  'auto-apply-run-trigger',
  'file-triggers-enabled',
  'global-remote-state',
  'locked',
  'operations',
  'queue-all-runs',
  'speculative-enabled',
  'structured-run-output-enabled',
  'assessments-enabled',
];
const TEXTS_OR_NULL = [
  'auto-destroy-at',
  'auto-destroy-status',
  'auto-destroy-activity-duration',
  'description',
  'locked-reason',
  'oauth-client-name',
  'source-name',
  'source-url',
  'working-directory',
  'vcs-repo-identifier',
];
const TIMES = ['created-at', 'updated-at', 'latest-change-at'];
const TEXTS = ['environment', 'execution-mode', 'name', 'source', 'runtime-version'];
const TEXT_LISTS = ['tag-names', 'trigger-prefixes', 'trigger-patterns'];
const NUMBERS = [
  'resource-count',
  'apply-duration-average',
  'plan-duration-average',
  'policy-check-failures',
  'run-failures',
  'workspace-kpis-runs-count',
  'workspace-kpis-run-count',
];
const PERMISSIONS = [
  'can-update',
  'can-destroy',
  'can-queue-run',
  'can-read-run',
  'can-read-variable',
  'can-update-variable',
  'can-read-state-versions',
  'can-read-state-outputs',
  'can-create-state-versions',
  'can-queue-apply',
  'can-lock',
  'can-unlock',
  'can-force-unlock',
  'can-read-settings',
  'can-manage-tags',
  'can-manage-run-tasks',
  'can-force-delete',
  'can-manage-assessments',
  'can-manage-ephemeral-workspaces',
  'can-read-assessment-results',
  'can-queue-destroy',
];
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('a workspace shows', () => {
  test('every attribute with its type', async () => {
    const { attributes } = await create();
    for (const name of BOOLEANS) expect([name, typeof attributes[name]]).toEqual([name, 'boolean']);
    for (const name of TEXTS) expect([name, typeof attributes[name]]).toEqual([name, 'string']);
    for (const name of NUMBERS) expect([name, typeof attributes[name]]).toEqual([name, 'number']);
    for (const name of TEXTS_OR_NULL) {
      const value = attributes[name];
      expect([name, value === null || typeof value === 'string']).toEqual([name, true]);
    }
    for (const name of TIMES)
      expect([name, attributes[name]]).toEqual([name, expect.stringMatching(TIME)]);
    for (const name of TEXT_LISTS) expect([name, attributes[name]]).toEqual([name, []]);
    expect(attributes).toMatchObject({
      actions: { 'is-destroyable': true },
      'inherits-project-auto-destroy': true,
      'setting-overwrites': { 'execution-mode': false, 'agent-pool': false },
      'vcs-repo': null,
    });
  });

  test('its permissions as booleans', async () => {
    const { attributes } = await create();
    const permissions = attributes['permissions'] as Record<string, unknown>;
    expect(Object.keys(permissions).toSorted()).toEqual(PERMISSIONS.toSorted());
    for (const value of Object.values(permissions)) expect(typeof value).toBe('boolean');
  });

  test('whether destroy runs are allowed, under both names', async () => {
    for (const may of [true, false]) {
      const { attributes } = await create({ 'allow-destroy-plan': may });
      expect(attributes).toMatchObject({
        'can-queue-destroy-plan': may,
        permissions: { 'can-queue-destroy': may, 'can-queue-apply': true },
      });
    }
  });

  test('no assessment before the first one', async () => {
    const { attributes, relationships } = await create({ 'assessments-enabled': true });
    expect(attributes).toMatchObject({ 'last-assessment-result-at': null });
    expect(relationships['current-assessment-result']).toMatchObject({ data: null });
  });

  test('every relationship, and the links of its bindings and consumers', async () => {
    const { id, relationships } = await create();
    const self = `/api/v2/workspaces/${id}`;
    const project = relationships['project']?.data as { id: string };
    const linked = (related: string) => ({ data: null, links: { related } });
    expect(relationships).toMatchObject({
      organization: {
        data: { id: 'acme', type: 'organizations' },
        links: { related: '/api/v2/organizations/acme' },
      },
      project: { data: { type: 'projects' }, links: { related: `/api/v2/projects/${project.id}` } },
      'agent-pool': { data: null },
      'current-run': { data: null },
      'latest-run': { data: null },
      'current-state-version': linked(`${self}/current-state-version`),
      'current-configuration-version': { data: null },
      'current-assessment-result': linked(`${self}/current-assessment-result`),
      outputs: { data: [] },
      readme: { data: null },
      'data-retention-policy': linked(`${self}/relationships/data-retention-policy`),
      'remote-state-consumers': {
        links: { related: `${self}/relationships/remote-state-consumers` },
      },
      'ssh-key': { data: null },
      'locked-by': { data: null },
      vars: { data: [] },
      'tag-bindings': { links: { related: `${self}/tag-bindings` } },
      'effective-tag-bindings': { links: { related: `${self}/effective-tag-bindings` } },
    });
    const { list } = await harness.call('GET', `${O}/workspaces?page[size]=100`);
    const listed = list.find((one) => one.id === id);
    expect(listed?.relationships).toEqual(relationships);
  });

  test('the holder of its lock and the reason', async () => {
    const { id } = await create();
    const account = await harness.call('GET', '/account/details');
    await harness.call('POST', `/workspaces/${id}/actions/lock`, { reason: 'maintenance' });
    const locked = await show(id);
    expect(locked.attributes).toMatchObject({ locked: true, 'locked-reason': 'maintenance' });
    expect(locked.relationships['locked-by']?.data).toEqual({
      id: account.data.id,
      type: 'users',
    });
    await harness.call('POST', `/workspaces/${id}/actions/unlock`);
    expect((await show(id)).attributes).toMatchObject({ locked: false, 'locked-reason': '' });
  });

  test('links with its name, which follow a rename', async () => {
    const { id, attributes, links } = await create();
    const name = String(attributes['name']);
    expect(links).toMatchObject({
      self: `/api/v2/organizations/acme/workspaces/${name}`,
      'self-html': `/app/acme/workspaces/${name}`,
    });
    const renamed = await harness.call('PATCH', `/workspaces/${id}`, {
      data: { type: 'workspaces', attributes: { name: `${name}-new` } },
    });
    expect(renamed.data.links).toMatchObject({
      self: `/api/v2/organizations/acme/workspaces/${name}-new`,
      'self-html': `/app/acme/workspaces/${name}-new`,
    });
  });

  test('the time of its last change: its creation or its newest state', async () => {
    const { id, attributes } = await create();
    expect(attributes['latest-change-at']).toBe(attributes['created-at']);
    harness.clock.advance(1000);
    await harness.call('PATCH', `/workspaces/${id}`, {
      data: { type: 'workspaces', attributes: { description: 'other' } },
    });
    const described = await show(id);
    expect(described.attributes['latest-change-at']).toBe(attributes['created-at']);
    expect(described.attributes['updated-at']).not.toBe(attributes['updated-at']);
    harness.clock.advance(1000);
    await harness.call('POST', `/workspaces/${id}/actions/lock`);
    const state = Buffer.from(JSON.stringify({ version: 4, serial: 1, lineage: 'l' }));
    const version = await harness.create(`/workspaces/${id}/state-versions`, 'state-versions', {
      serial: 1,
      md5: createHash('md5').update(state).digest('hex'),
      state: state.toString('base64'),
    });
    const stored = await show(id);
    expect(stored.attributes['latest-change-at']).toBe(version.attributes['created-at']);
    expect(stored.relationships['current-state-version']?.data).toEqual({
      id: version.id,
      type: 'state-versions',
    });
  });
});

const makeTeam = async (name: string, attributes: object = {}) =>
  (await harness.create(`${O}/teams`, 'teams', { name, ...attributes })).id;
const makeProject = async (name: string) =>
  (await harness.create(`${O}/projects`, 'projects', { name })).id;
const grantProject = (team: string, project: string, access: string) =>
  harness.create(
    '/team-projects',
    'team-projects',
    { access },
    {
      relationships: {
        team: { data: { type: 'teams', id: team } },
        project: { data: { type: 'projects', id: project } },
      },
    },
  );
const inProject = (id: string) => ({ project: { data: { type: 'projects', id } } });

describe('a project', () => {
  test('accepts new workspaces from callers who may create them there', async () => {
    const [own, other] = [await makeProject('Own'), await makeProject('Other')];
    const team = await makeTeam('maintainers');
    await grantProject(team, own, 'maintain');
    await grantProject(team, other, 'write');
    const { token } = await harness.addUser('maintainer', team);
    const tryCreate = (name: string, project: string) =>
      harness.call(
        'POST',
        `${O}/workspaces`,
        { data: { type: 'workspaces', attributes: { name }, relationships: inProject(project) } },
        token,
      );
    expect((await tryCreate('of-maintainer', own)).status).toBe(201);
    expect((await tryCreate('elsewhere', other)).status).toBe(404);
    expect((await tryCreate('by-default', '')).status).toBe(404);
  });

  test('can pass a workspace to another project only by administrators of both', async () => {
    const [from, to] = [await makeProject('Source'), await makeProject('Target')];
    const [one, other] = [await makeTeam('one-side'), await makeTeam('other-side')];
    const both = await makeTeam('both-sides');
    await grantProject(one, from, 'admin');
    await grantProject(one, to, 'maintain');
    await grantProject(other, from, 'maintain');
    await grantProject(other, to, 'admin');
    for (const project of [from, to]) await grantProject(both, project, 'admin');
    const { id } = await create({}, inProject(from));
    const move = async (token: string, project: string) =>
      (
        await harness.call(
          'PATCH',
          `/workspaces/${id}`,
          { data: { type: 'workspaces', attributes: {}, relationships: inProject(project) } },
          token,
        )
      ).status;
    const oneSided = await harness.addUser('one-sided', one);
    expect(await move(oneSided.token, to)).toBe(404);
    // The workspace manages nothing, so that no other permission is needed.
    expect(await move(oneSided.token, from)).toBe(200);
    expect(await move(oneSided.token, '')).toBe(200);
    const otherSided = await harness.addUser('other-sided', other);
    expect(await move(otherSided.token, to)).toBe(404);
    const mover = await harness.addUser('mover', both);
    expect(await move(mover.token, to)).toBe(200);
    expect((await show(id)).relationships['project']?.data).toEqual({ id: to, type: 'projects' });
  });
});

describe('a resource of another organization', () => {
  test('cannot receive a workspace or consume its state, whoever the caller is', async () => {
    const other = { name: 'globex', email: 'a@b.example' };
    await harness.create('/organizations', 'organizations', other);
    const at = '/organizations/globex';
    const theirs = await harness.create(`${at}/projects`, 'projects', { name: 'Theirs' });
    const their = await harness.create(`${at}/workspaces`, 'workspaces', { name: 'their' });
    const { id, relationships } = await create();
    const pointers = ({ errors }: { errors: readonly { source?: { pointer: string } }[] }) =>
      errors.map(({ source }) => source?.pointer);
    const made = await harness.call('POST', `${O}/workspaces`, {
      data: {
        type: 'workspaces',
        attributes: { name: 'lost' },
        relationships: inProject(theirs.id),
      },
    });
    expect([made.status, pointers(made)]).toEqual([422, ['/data/relationships/project/data/id']]);
    const moved = await harness.call('PATCH', `/workspaces/${id}`, {
      data: { type: 'workspaces', attributes: {}, relationships: inProject(theirs.id) },
    });
    expect([moved.status, pointers(moved)]).toEqual([422, ['/data/relationships/project/data/id']]);
    const few = { data: [{ type: 'workspaces', id }] };
    const bulk = `/projects/${theirs.id}/relationships/workspaces`;
    expect((await harness.call('POST', bulk, few)).status).toBe(422);
    expect((await show(id)).relationships['project']).toEqual(relationships['project']);
    for (const method of ['POST', 'PATCH']) {
      const consumers = `/workspaces/${id}/relationships/remote-state-consumers`;
      const reply = await harness.call(method, consumers, {
        data: [{ type: 'workspaces', id: their.id }],
      });
      expect(reply.status).toBe(404);
    }
  });
});

describe('deletion', () => {
  test('by force is for owners, and for administrators if the organization allows it', async () => {
    const { id } = await create();
    const team = await makeTeam('administrators');
    await harness.create(
      '/team-workspaces',
      'team-workspaces',
      { access: 'admin' },
      {
        relationships: {
          team: { data: { type: 'teams', id: team } },
          workspace: { data: { type: 'workspaces', id } },
        },
      },
    );
    const { token } = await harness.addUser('administrator', team);
    const force = () => harness.call('DELETE', `/workspaces/${id}`, undefined, token);
    const readers = await makeTeam('readers');
    await harness.call('PATCH', `/teams/${readers}`, {
      data: { type: 'teams', attributes: { 'organization-access': { 'read-workspaces': true } } },
    });
    const reader = await harness.addUser('reader', readers);
    const isDestroyable = async (by: string) => (await show(id, by)).attributes['actions'];
    expect(await isDestroyable(token)).toEqual({ 'is-destroyable': true });
    await harness.call('PATCH', `/workspaces/${id}`, {
      data: { type: 'workspaces', attributes: { 'allow-destroy-plan': false } },
    });
    // Whether a run may destroy what it manages is another matter.
    expect(await isDestroyable(token)).toEqual({ 'is-destroyable': true });
    expect(await isDestroyable(reader.token)).toEqual({ 'is-destroyable': false });
    const mayForce = async () =>
      ((await show(id, token)).attributes['permissions'] as Record<string, unknown>)[
        'can-force-delete'
      ];
    expect(await mayForce()).toBe(false);
    expect((await force()).status).toBe(403);
    const setting = { 'allow-force-delete-workspaces': true };
    await harness.call('PATCH', O, { data: { type: 'organizations', attributes: setting } });
    expect(await mayForce()).toBe(true);
    expect((await force()).status).toBe(204);
    expect((await force()).status).toBe(404);
  });

  test('of an absent workspace is a 404 in both forms', async () => {
    for (const path of ['/workspaces/ws-none', `${O}/workspaces/none`]) {
      expect((await harness.call('POST', `${path}/actions/safe-delete`)).status).toBe(404);
      expect((await harness.call('DELETE', path)).status).toBe(404);
    }
  });
});
