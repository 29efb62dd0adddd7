import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
  await harness.create('/organizations', 'organizations', {
    name: 'acme',
    email: 'ops@keelson.example',
  });
});
afterAll(() => harness[Symbol.asyncDispose]());

const COLLECTION = '/organizations/acme/workspaces';

const tryCreate = (attributes: object, relationships: object = {}) =>
  harness.call('POST', COLLECTION, { data: { type: 'workspaces', attributes, relationships } });

describe('a new workspace', () => {
  test('has the defaults of the specification', async () => {
    const { attributes, links, relationships, id } = await harness.create(
      COLLECTION,
      'workspaces',
      { name: 'plain' },
    );
    expect(id).toMatch(/^ws-[1-9A-HJ-NP-Za-km-z]{16}$/);
    expect(attributes).toMatchObject({
      name: 'plain',
      'allow-destroy-plan': true,
      'assessments-enabled': false,
      'auto-apply': false,
      'auto-apply-run-trigger': false,
      'auto-destroy-at': null,
      'auto-destroy-activity-duration': null,
      'inherits-project-auto-destroy': true,
      description: null,
      'execution-mode': 'remote',
      'file-triggers-enabled': true,
      'global-remote-state': false,
      operations: true,
      'queue-all-runs': false,
      'speculative-enabled': true,
      'structured-run-output-enabled': true,
      'runtime-version': '1.11.4',
      'terraform-version': '1.11.4',
      'trigger-patterns': [],
      'trigger-prefixes': [],
      'vcs-repo': null,
      'working-directory': null,
      'setting-overwrites': { 'execution-mode': false, 'agent-pool': false },
      locked: false,
      'locked-reason': '',
      'resource-count': 0,
      'tag-names': [],
      source: 'tfe-api',
      environment: 'default',
      'created-at': '2030-01-01T00:00:00.000Z',
    });
    expect(attributes['permissions']).toMatchObject({
      'can-update': true,
      'can-force-delete': true,
      'can-lock': true,
      'can-queue-destroy': true,
    });
    expect(Object.keys(attributes['permissions'] as object)).toHaveLength(21);
    expect(links).toMatchObject({
      self: '/api/v2/organizations/acme/workspaces/plain',
      'self-html': '/app/acme/workspaces/plain',
    });
    expect(relationships['organization']?.data).toEqual({ id: 'acme', type: 'organizations' });
  });

  test.for([
    ['no name', {}, '/data/attributes/name'],
    ['a name with a space', { name: 'a b' }, '/data/attributes/name'],
    ['a name with a slash', { name: 'a/b' }, '/data/attributes/name'],
    ['an empty name', { name: '' }, '/data/attributes/name'],
    ['a name that is taken', { name: 'plain' }, '/data/attributes/name'],
    [
      'operations with execution-mode',
      { name: 'x', operations: true, 'execution-mode': 'remote' },
      '/data/attributes/operations',
    ],
    [
      'agent without a pool',
      { name: 'x', 'execution-mode': 'agent' },
      '/data/attributes/agent-pool-id',
    ],
    [
      'a pool with remote',
      { name: 'x', 'execution-mode': 'remote', 'agent-pool-id': 'apool-1' },
      '/data/attributes/agent-pool-id',
    ],
    [
      'a pool with local',
      { name: 'x', 'execution-mode': 'local', 'agent-pool-id': 'apool-1' },
      '/data/attributes/agent-pool-id',
    ],
    [
      'a pool with operations',
      { name: 'x', operations: true, 'agent-pool-id': 'apool-1' },
      '/data/attributes/agent-pool-id',
    ],
    [
      'an unknown pool',
      { name: 'x', 'execution-mode': 'agent', 'agent-pool-id': 'apool-1' },
      '/data/attributes/agent-pool-id',
    ],
    [
      'an unknown execution mode',
      { name: 'x', 'execution-mode': 'cloud' },
      '/data/attributes/execution-mode',
    ],
    [
      'its own mode without the mode',
      { name: 'x', 'setting-overwrites': { 'execution-mode': true } },
      '/data/attributes/setting-overwrites/execution-mode',
    ],
    [
      'overwrites that differ',
      {
        name: 'x',
        'execution-mode': 'local',
        'setting-overwrites': { 'execution-mode': true, 'agent-pool': false },
      },
      '/data/attributes/setting-overwrites',
    ],
    [
      'patterns with prefixes',
      { name: 'x', 'trigger-patterns': ['a'], 'trigger-prefixes': ['b'] },
      '/data/attributes/trigger-patterns',
    ],
    [
      'a repository without an identifier',
      { name: 'x', 'vcs-repo': { 'oauth-token-id': 'ot-1' } },
      '/data/attributes/vcs-repo/identifier',
    ],
    [
      'a repository without a connection',
      { name: 'x', 'vcs-repo': { identifier: 'a/b' } },
      '/data/attributes/vcs-repo/oauth-token-id',
    ],
    [
      'an installation with a token',
      {
        name: 'x',
        'vcs-repo': {
          identifier: 'a/b',
          'oauth-token-id': 'ot-1',
          'vcs-app-installation-id': 'ghain-1',
        },
      },
      '/data/attributes/vcs-repo/vcs-app-installation-id',
    ],
    [
      'a Git tag expression with patterns',
      {
        name: 'x',
        'trigger-patterns': ['a'],
        'vcs-repo': { identifier: 'a/b', 'oauth-token-id': 'ot-1', 'tags-regex': 'v.*' },
      },
      '/data/attributes/vcs-repo/tags-regex',
    ],
    [
      'a zero duration',
      { name: 'x', 'auto-destroy-activity-duration': '0d' },
      '/data/attributes/auto-destroy-activity-duration',
    ],
    [
      'a duration of five digits',
      { name: 'x', 'auto-destroy-activity-duration': '10000h' },
      '/data/attributes/auto-destroy-activity-duration',
    ],
    ...['5m', '14', 'd', '1.5d', '-1d', '1d2h', ' 1d'].map(
      (duration) =>
        [
          `the duration "${duration}"`,
          { name: 'x', 'auto-destroy-activity-duration': duration },
          '/data/attributes/auto-destroy-activity-duration',
        ] as const,
    ),
    [
      'a malformed date',
      { name: 'x', 'auto-destroy-at': 'tomorrow' },
      '/data/attributes/auto-destroy-at',
    ],
    [
      'a version nobody released',
      { name: 'x', 'runtime-version': '~> 9.0' },
      '/data/attributes/runtime-version',
    ],
    [
      'two versions',
      { name: 'x', 'runtime-version': '1.5.7', 'terraform-version': '1.10.5' },
      '/data/attributes/terraform-version',
    ],
    ['a number for a flag', { name: 'x', 'auto-apply': 1 }, '/data/attributes/auto-apply'],
  ] as const)('is refused with %s', async ([, attributes, pointer]) => {
    const { status, errors } = await tryCreate(attributes);
    expect(status).toBe(422);
    expect(errors.map(({ source }) => source?.pointer)).toContain(pointer);
    expect(errors[0]).toMatchObject({ status: '422', title: 'invalid attribute' });
  });

  test('is refused in an absent project', async () => {
    const project = { project: { data: { type: 'projects', id: 'prj-none' } } };
    expect((await tryCreate({ name: 'x' }, project)).status).toBe(404);
  });

  test('takes the default project when the id is blank', async () => {
    const project = { project: { data: { type: 'projects', id: '' } } };
    const reply = await tryCreate({ name: 'blank-project' }, project);
    expect(reply.status).toBe(201);
  });

  test('tolerates an empty pool id', async () => {
    const reply = await tryCreate({ name: 'empty-pool', 'agent-pool-id': '' });
    expect(reply.status).toBe(201);
  });

  test('shares its state by the default of the site unless the request decides', async () => {
    await using site = await startHarness({ globalRemoteState: true });
    const owner = { name: 'acme', email: 'ops@keelson.example' };
    await site.create('/organizations', 'organizations', owner);
    const isShared = async (name: string, attributes: object = {}) =>
      (await site.create(COLLECTION, 'workspaces', { name, ...attributes })).attributes[
        'global-remote-state'
      ];
    expect(await isShared('silent')).toBe(true);
    expect(await isShared('closed', { 'global-remote-state': false })).toBe(false);
    expect(await isShared('of-project', { 'project-remote-state': true })).toBe(false);
  });

  test('accepts tags and key-value bindings as relationships', async () => {
    const { data } = await tryCreate(
      { name: 'tagged' },
      {
        tags: { data: [{ type: 'tags', attributes: { name: 'net' } }] },
        'tag-bindings': {
          // Some clients write the type in the singular.
          data: [{ type: 'tag-binding', attributes: { key: 'env', value: 'prod' } }],
        },
      },
    );
    expect(data.attributes['tag-names']).toEqual(['net']);
    const { list } = await harness.call('GET', `/workspaces/${data.id}/tag-bindings`);
    expect(list.map(({ attributes }) => [attributes['key'], attributes['value']])).toEqual([
      ['env', 'prod'],
      ['net', ''],
    ]);
  });
});

describe('both address forms', () => {
  test('show the same document', async () => {
    const { id } = await harness.create(COLLECTION, 'workspaces', { name: 'forms' });
    const byId = await harness.call('GET', `/workspaces/${id}`);
    const byName = await harness.call('GET', `${COLLECTION}/forms`);
    expect(byId.status).toBe(200);
    expect(byId.data).toEqual(byName.data);
  });

  test('update the workspace, and a new name changes its address', async () => {
    const { id } = await harness.create(COLLECTION, 'workspaces', { name: 'old-name' });
    const patch = (attributes: object) => ({ data: { type: 'workspaces', attributes } });
    await harness.call('PATCH', `${COLLECTION}/old-name`, patch({ description: 'd' }));
    const renamed = await harness.call('PATCH', `/workspaces/${id}`, patch({ name: 'new-name' }));
    expect(renamed.data.attributes).toMatchObject({ name: 'new-name', description: 'd' });
    expect((await harness.call('GET', `${COLLECTION}/old-name`)).status).toBe(404);
    expect((await harness.call('GET', `${COLLECTION}/new-name`)).data.id).toBe(id);
    const taken = await harness.call('PATCH', `/workspaces/${id}`, patch({ name: 'forms' }));
    expect(taken.status).toBe(422);
  });

  test.for(['id', 'name'] as const)(
    'delete the workspace safely and by force, by %s',
    async (form) => {
      for (const action of ['safe', 'force'] as const) {
        const { id } = await harness.create(COLLECTION, 'workspaces', { name: 'to-delete' });
        const path = form === 'id' ? `/workspaces/${id}` : `${COLLECTION}/to-delete`;
        const reply =
          action === 'safe'
            ? await harness.call('POST', `${path}/actions/safe-delete`)
            : await harness.call('DELETE', path);
        expect(reply.status).toBe(204);
        expect((await harness.call('GET', path)).status).toBe(404);
      }
    },
  );
});

describe('the execution mode', () => {
  const update = (path: string, type: string, attributes: object) =>
    harness.call('PATCH', path, { data: { type, attributes } });

  test('is inherited from project and organization until it is set', async () => {
    const { id, relationships } = await harness.create(COLLECTION, 'workspaces', {
      name: 'inheriting',
    });
    const project = relationships['project']?.data as { id: string };
    const show = async () => (await harness.call('GET', `/workspaces/${id}`)).data.attributes;
    await update('/organizations/acme', 'organizations', { 'default-execution-mode': 'local' });
    expect(await show()).toMatchObject({ 'execution-mode': 'local', operations: false });
    await update(`/projects/${project.id}`, 'projects', { 'default-execution-mode': 'remote' });
    expect(await show()).toMatchObject({ 'execution-mode': 'remote' });
    await update(`/workspaces/${id}`, 'workspaces', { 'execution-mode': 'local' });
    expect(await show()).toMatchObject({
      'execution-mode': 'local',
      'setting-overwrites': { 'execution-mode': true, 'agent-pool': true },
    });
    await update(`/workspaces/${id}`, 'workspaces', {
      'setting-overwrites': { 'execution-mode': false },
    });
    expect(await show()).toMatchObject({
      'execution-mode': 'remote',
      'setting-overwrites': { 'execution-mode': false, 'agent-pool': false },
    });
  });

  test('that is inherited is not changed by another value, and the answer says so', async () => {
    const { id, relationships } = await harness.create(COLLECTION, 'workspaces', { name: 'stale' });
    const project = (relationships['project'] as { data: { id: string } }).data.id;
    await update(`/workspaces/${id}`, 'workspaces', { 'execution-mode': 'local' });
    const STALE = [
      [{ 'execution-mode': 'agent', 'agent-pool-id': '' }, 1],
      [{ 'execution-mode': 'agent', 'agent-pool-id': 'apool-0000000000000000' }, 1],
      [{ operations: false }, 1],
      [{ 'execution-mode': 'remote' }, 0],
      [{}, 0],
    ] as const;
    for (const [given, warnings] of STALE) {
      const overwrites = { 'execution-mode': false, 'agent-pool': false };
      const answer = await update(`/workspaces/${id}`, 'workspaces', {
        ...given,
        'setting-overwrites': overwrites,
      });
      expect([answer.status, answer.data.attributes]).toMatchObject([
        200,
        { 'execution-mode': 'remote', 'setting-overwrites': overwrites },
      ]);
      expect(answer.meta?.warnings ?? []).toHaveLength(warnings);
    }
    const { meta } = await update(`/projects/${project}`, 'projects', {
      'default-execution-mode': 'agent',
      'setting-overwrites': { 'default-execution-mode': false },
    });
    expect(meta.warnings).toEqual([
      'default-execution-mode and default-agent-pool-id are inherited, because setting-overwrites.default-execution-mode is false: the given value was not stored',
    ]);
  });

  test('is local when operations is false', async () => {
    const { attributes } = await harness.create(COLLECTION, 'workspaces', {
      name: 'no-operations',
      operations: false,
    });
    expect(attributes).toMatchObject({ 'execution-mode': 'local', operations: false });
  });
});

describe('a move between projects', () => {
  test('changes the project, unless the id is blank', async () => {
    const target = await harness.create('/organizations/acme/projects', 'projects', {
      name: 'Second project',
    });
    expect(target.id).toMatch(/^prj-[1-9A-HJ-NP-Za-km-z]{16}$/);
    const { id } = await harness.create(COLLECTION, 'workspaces', { name: 'moving' });
    const move = (projectId: string) =>
      harness.call('PATCH', `/workspaces/${id}`, {
        data: {
          type: 'workspaces',
          relationships: { project: { data: { type: 'projects', id: projectId } } },
        },
      });
    const moved = await move(target.id);
    expect(moved.data.relationships['project']?.data).toEqual({ id: target.id, type: 'projects' });
    const kept = await move('');
    expect(kept.data.relationships['project']?.data).toEqual({ id: target.id, type: 'projects' });
    const next = await harness.create('/organizations/acme/projects', 'projects', {
      name: 'Third project',
    });
    expect((await harness.call('DELETE', `/projects/${target.id}`)).status).toBe(403);
    await move(next.id);
    expect((await harness.call('DELETE', `/projects/${target.id}`)).status).toBe(204);
    await harness.call('DELETE', `/workspaces/${id}`);
    expect((await harness.call('DELETE', `/projects/${next.id}`)).status).toBe(204);
  });
});

describe('concurrent creation', () => {
  test('gives one name to one workspace', async () => {
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => tryCreate({ name: 'contested' })),
    );
    const statuses = replies.map(({ status }) => status).sort((a, b) => a - b);
    expect(statuses).toEqual([201, ...Array.from({ length: 49 }, () => 422)]);
  });
});

describe('include', () => {
  test('adds the requested resources, named with hyphens or underscores', async () => {
    const { included } = await harness.call(
      'GET',
      `${COLLECTION}/plain?include=organization,project`,
    );
    expect(included.map(({ type }) => type)).toEqual(['organizations', 'projects']);
    const reply = await harness.call('GET', `${COLLECTION}/plain?include=current-state-version`);
    expect(reply.status).toBe(200);
  });

  test('is refused with an unknown name', async () => {
    const { status, errors } = await harness.call('GET', `${COLLECTION}/plain?include=nonsense`);
    expect(status).toBe(400);
    expect(errors[0]?.detail).toContain('Invalid include parameter');
    expect(errors[0]?.source).toEqual({ parameter: 'include' });
  });
});
