import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countDone, type SimultaneousPair } from '../../../test/simultaneous.ts';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';

const O = '/organizations/acme';
let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
});
afterAll(() => harness[Symbol.asyncDispose]());

const body = (attributes: object) => ({ data: { type: 'reserved-tag-keys', attributes } });
const reserve = (key: string, disableOverrides = false) =>
  harness.create(`${O}/reserved-tag-keys`, 'reserved-tag-keys', {
    key,
    'disable-overrides': disableOverrides,
  });
const bindings = (...keys: readonly string[]) => ({
  data: keys.map((key) => ({ type: 'tag-bindings', attributes: { key, value: 'v' } })),
});
const makeProject = async (name: string, ...keys: readonly string[]) => {
  const relationships = { 'tag-bindings': bindings(...keys) };
  return (await harness.create(`${O}/projects`, 'projects', { name }, { relationships })).id;
};
const tryWorkspace = (name: string, projectId: string, ...keys: readonly string[]) =>
  harness.call('POST', `${O}/workspaces`, {
    data: {
      type: 'workspaces',
      attributes: { name },
      relationships: {
        project: { data: { type: 'projects', id: projectId } },
        ...(keys.length > 0 && { 'tag-bindings': bindings(...keys) }),
      },
    },
  });
const refusal = ({ status, errors }: Awaited<ReturnType<Harness['call']>>) => [
  status,
  errors[0]?.source?.pointer,
];

describe('a reserved tag key', () => {
  test('can be listed by name, changed and released under both paths', async () => {
    const second = await reserve('b-key');
    const first = await reserve('a-key', true);
    const listed = await harness.call('GET', `${O}/reserved-tag-keys`);
    expect(listed.list.map(({ id }) => id)).toEqual([first.id, second.id]);
    expect(first.attributes).toMatchObject({ key: 'a-key', 'disable-overrides': true });
    expect(first.attributes['created_at']).toBe(first.attributes['created-at']);
    for (const path of ['/reserved-tags', '/reserved-tag-keys']) {
      const changed = await harness.call('PATCH', `${path}/${second.id}`, body({ key: path }));
      expect(refusal(changed)).toEqual([422, '/data/attributes/key']);
    }
    harness.clock.advance(1000);
    const renamed = await harness.call('PATCH', `/reserved-tags/${second.id}`, body({ key: 'c' }));
    expect(renamed.data.attributes).toMatchObject({ key: 'c', 'disable-overrides': false });
    const { 'created-at': createdAt, 'updated-at': updatedAt } = renamed.data.attributes;
    expect(createdAt).toBe(second.attributes['created-at']);
    expect(Date.parse(String(updatedAt)) - Date.parse(String(createdAt))).toBe(1000);
    expect((await harness.call('DELETE', `/reserved-tags/${first.id}`)).status).toBe(204);
    expect((await harness.call('DELETE', `/reserved-tag-keys/${second.id}`)).status).toBe(204);
    expect((await harness.call('GET', `${O}/reserved-tag-keys`)).list).toEqual([]);
    for (const kept of ['keys', 'key-places']) {
      expect(await harness.store.scan(`shared/reserved-tag-${kept}/`)).toEqual([]);
    }
  });

  test.for([
    ['taken', 'Key has already been taken'],
    ['no good', 'Key is invalid'],
    ['hc:own', 'Key is invalid'],
    ['', 'Key is invalid'],
  ] as const)('cannot be "%s": %s', async ([key, text]) => {
    if (key === 'taken') await reserve(key);
    const reply = await harness.call('POST', `${O}/reserved-tag-keys`, body({ key }));
    expect(refusal(reply)).toEqual([422, '/data/attributes/key']);
    expect(reply.errors[0]?.detail).toBe(text);
  });

  test('can be overridden by default', async () => {
    await reserve('open');
    const project = await makeProject('Open', 'open');
    expect((await tryWorkspace('open', project, 'open')).status).toBe(201);
  });
});

describe('a key whose overriding is disabled', () => {
  test('cannot be bound by workspaces of projects that bind it', async () => {
    await reserve('owner', true);
    const [binding, free] = [await makeProject('Binding', 'owner'), await makeProject('Free')];
    const onCreate = '/data/relationships/tag-bindings/data';
    expect(refusal(await tryWorkspace('refused', binding, 'owner'))).toEqual([422, onCreate]);
    const inside = await tryWorkspace('inside', binding, 'other');
    const outside = await tryWorkspace('outside', free, 'owner');
    expect([inside.status, outside.status]).toEqual([201, 201]);
    const W = `/workspaces/${inside.data.id}`;
    const flat = { data: [{ type: 'tags', attributes: { name: 'owner' } }] };
    const attempts = [
      harness.call('PATCH', `${W}/tag-bindings`, bindings('owner')),
      harness.call('POST', `${W}/relationships/tag-bindings`, bindings('owner')),
      harness.call('PATCH', `${W}/relationships/tag-bindings`, bindings('owner')),
      harness.call('POST', `${W}/relationships/tags`, flat),
    ];
    for (const attempt of await Promise.all(attempts)) {
      expect(refusal(attempt)).toEqual([422, '/data']);
    }
    const update = await harness.call('PATCH', W, {
      data: {
        type: 'workspaces',
        attributes: {},
        relationships: { 'tag-bindings': bindings('owner') },
      },
    });
    expect(refusal(update)).toEqual([422, onCreate]);
    const { list } = await harness.call('GET', `${W}/effective-tag-bindings`);
    expect(list.map(({ attributes }) => attributes['key'])).toEqual(['other', 'owner']);
  });

  test('prevents workspaces that bind it from moving to such projects', async () => {
    await reserve('team', true);
    const [binding, free] = [await makeProject('Team', 'team'), await makeProject('Teamless')];
    const { data } = await tryWorkspace('mover', free, 'team');
    const one = await harness.call('PATCH', `/workspaces/${data.id}`, {
      data: {
        type: 'workspaces',
        attributes: {},
        relationships: { project: { data: { type: 'projects', id: binding } } },
      },
    });
    expect(refusal(one)).toEqual([422, '/data/relationships/project/data/id']);
    const many = await harness.call('POST', `/projects/${binding}/relationships/workspaces`, {
      data: [{ type: 'workspaces', id: data.id }],
    });
    expect(refusal(many)).toEqual([422, '/data']);
  });

  test('cannot be bound by projects whose workspaces bind it', async () => {
    await reserve('env', true);
    const project = await makeProject('Later');
    await tryWorkspace('earlier', project, 'env');
    const added = await harness.call('PATCH', `/projects/${project}/tag-bindings`, bindings('env'));
    expect(refusal(added)).toEqual([422, '/data']);
    const updated = await harness.call('PATCH', `/projects/${project}`, {
      data: {
        type: 'projects',
        attributes: {},
        relationships: { 'tag-bindings': bindings('env') },
      },
    });
    expect(refusal(updated)).toEqual([422, '/data/relationships/tag-bindings/data']);
  });

  test('cannot be set while workspaces override the key', async () => {
    const project = await makeProject('Overridden', 'cost');
    const { data } = await tryWorkspace('overriding', project, 'cost');
    const disabled = { key: 'cost', 'disable-overrides': true };
    const reply = await harness.call('POST', `${O}/reserved-tag-keys`, body(disabled));
    expect(refusal(reply)).toEqual([422, '/data/attributes/disable-overrides']);
    const { id } = await reserve('cost');
    const path = `/reserved-tags/${id}`;
    const change = () => harness.call('PATCH', path, body({ 'disable-overrides': true }));
    expect(refusal(await change())).toEqual([422, '/data/attributes/disable-overrides']);
    await harness.call('PATCH', `/workspaces/${data.id}/relationships/tag-bindings`, bindings());
    expect((await change()).status).toBe(200);
  });
});

describe('of two concurrent requests that would create an override, one is refused', () => {
  const bind = (path: string, key: string) =>
    harness.call('PATCH', `${path}/tag-bindings`, bindings(key));
  const lock = (key: string) =>
    harness.call('POST', `${O}/reserved-tag-keys`, body({ key, 'disable-overrides': true }));
  const projectOf = (id: string) => ({ project: { data: { type: 'projects', id } } });

  test.for<readonly [string, (key: string) => Promise<SimultaneousPair>]>([
    [
      'a reservation and a binding',
      async (key: string) => {
        const project = await makeProject(key, key);
        const { data } = await tryWorkspace(key, project);
        return [() => lock(key), () => bind(`/workspaces/${data.id}`, key)];
      },
    ],
    [
      'a reservation and a flat tag',
      async (key: string) => {
        const project = await makeProject(key, key);
        const { data } = await tryWorkspace(key, project);
        const tags = { data: [{ type: 'tags', attributes: { name: key } }] };
        const path = `/workspaces/${data.id}/relationships/tags`;
        return [() => lock(key), () => harness.call('POST', path, tags)];
      },
    ],
    [
      'a reservation and a new workspace',
      async (key: string) => {
        const project = await makeProject(key, key);
        return [() => lock(key), () => tryWorkspace(key, project, key)];
      },
    ],
    [
      'bindings of a project and of a workspace',
      async (key: string) => {
        await lock(key);
        const project = await makeProject(key);
        const { data } = await tryWorkspace(key, project);
        return [() => bind(`/projects/${project}`, key), () => bind(`/workspaces/${data.id}`, key)];
      },
    ],
    [
      'bindings of a project and an update',
      async (key: string) => {
        await lock(key);
        const project = await makeProject(key);
        const { data } = await tryWorkspace(key, project);
        const relationships = { 'tag-bindings': bindings(key) };
        const update = { data: { type: 'workspaces', attributes: {}, relationships } };
        return [
          () => bind(`/projects/${project}`, key),
          () => harness.call('PATCH', `/workspaces/${data.id}`, update),
        ];
      },
    ],
    [
      'bindings of a project and a move',
      async (key: string) => {
        await lock(key);
        const project = await makeProject(key);
        const { data } = await tryWorkspace(key, await makeProject(`${key}-from`), key);
        const relationships = projectOf(project);
        const move = { data: { type: 'workspaces', attributes: {}, relationships } };
        return [
          () => bind(`/projects/${project}`, key),
          () => harness.call('PATCH', `/workspaces/${data.id}`, move),
        ];
      },
    ],
  ])('%s', async ([name, prepare]) => {
    const done = await countDone((round) =>
      prepare(`${name.replaceAll(' ', '-')}-${round}`.slice(-38)),
    );
    expect(done).toEqual([1]);
  });
});
