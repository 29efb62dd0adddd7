/** Lists of resources around workspaces: totals, filters and includes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, type Reply, startHarness } from './workspace-harness.ts';

const O = '/organizations/acme';
let harness: Harness;
let projectId: string;
let teamId: string;

beforeAll(async () => {
  harness = await startHarness();
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  const bindings = [{ type: 'tag-bindings', attributes: { key: 'cost', value: '1' } }];
  projectId = (
    await harness.create(
      `${O}/projects`,
      'projects',
      { name: 'Shop' },
      { relationships: { 'tag-bindings': { data: bindings } } },
    )
  ).id;
  teamId = (await harness.create(`${O}/teams`, 'teams', { name: 'builders' })).id;
});
afterAll(() => harness[Symbol.asyncDispose]());

const names = ({ list }: Reply) => list.map(({ attributes }) => attributes['name']);
const counts = ({ meta }: Reply) => (meta as unknown as Record<string, unknown>)['status-counts'];

describe('a list', () => {
  test('of projects reports the total and the number of matches', async () => {
    const all = await harness.call('GET', `${O}/projects`);
    expect(counts(all)).toEqual({ total: 2, matching: 2 });
    expect(counts(await harness.call('GET', `${O}/projects?filter[names]=shop`))).toEqual({
      total: 2,
      matching: 1,
    });
    expect(names(all)).toEqual(['Default Project', 'Shop']);
    expect(names(await harness.call('GET', `${O}/projects?sort=-name`))).toEqual([
      'Shop',
      'Default Project',
    ]);
  });

  test('of organizations is sorted by name, paged on request, and searched by name and address', async () => {
    const email = 'Zoo@B.example';
    const made = ['zoo', ...Array.from({ length: 20 }, (_, at) => `org-${at + 10}`)];
    for (const name of made)
      await harness.create('/organizations', 'organizations', { name, email });
    await harness.call('PATCH', '/organizations/zoo', {
      data: { type: 'organizations', attributes: { email: 'other@b.example' } },
    });
    const all = ['acme', ...made.toSorted()];
    const listed = async (query: string) =>
      names(await harness.call('GET', `/organizations${query}`));
    expect(await listed('')).toEqual(all);
    expect(await listed('?page[number]=2')).toEqual(all.slice(20));
    expect(await listed('?q=ZO')).toEqual(all.slice(1));
    expect(await listed('?q[name]=ORG-1')).toEqual(all.slice(1, 11));
    expect(await listed('?q[email]=oTHER')).toEqual(['zoo']);
  });

  test('of teams reports the total and the number of matches', async () => {
    expect(counts(await harness.call('GET', `${O}/teams?q=build`))).toEqual({
      total: 2,
      matching: 1,
    });
  });

  test('of projects contains those to which the caller has access', async () => {
    const grant = (access: string, id: string) =>
      harness.create(
        '/team-projects',
        'team-projects',
        { access },
        {
          relationships: {
            team: { data: { type: 'teams', id: teamId } },
            project: { data: { type: 'projects', id } },
          },
        },
      );
    const { list } = await harness.call('GET', `${O}/projects?filter[names]=Default Project`);
    await grant('read', list[0]?.id ?? '');
    await grant('maintain', projectId);
    const { token } = await harness.addUser('builder', teamId);
    const listed = (query: string) =>
      harness.call('GET', `${O}/projects?${query}`, undefined, token);
    expect(names(await listed(''))).toEqual(['Default Project', 'Shop']);
    const creatable = await listed('filter[permissions][create-workspace]=true');
    expect(names(creatable)).toEqual(['Shop']);
    expect(counts(creatable)).toEqual({ total: 2, matching: 1 });
    expect(counts(await listed('q=sHo'))).toEqual({ total: 2, matching: 1 });
    expect(names(await listed('filter[permissions][update]=true'))).toEqual([]);
    expect(names(await listed('filter[permissions][update]=false'))).toHaveLength(2);
  });
});

describe('agent pools', () => {
  const named = (name: string, type: string, id: string) =>
    harness.create(
      `${O}/agent-pools`,
      'agent-pools',
      { name, 'organization-scoped': false },
      { relationships: { [`allowed-${type}`]: { data: [{ type, id }] } } },
    );
  const workspaceOf = (name: string, attributes: object = {}) =>
    harness.create(`${O}/workspaces`, 'workspaces', { name, ...attributes });

  test('are listed by name or by age', async () => {
    for (const name of ['sorted-b', 'sorted-c', 'sorted-a']) {
      harness.clock.advance(1000);
      await harness.create(`${O}/agent-pools`, 'agent-pools', { name });
    }
    const listed = async (sort: string) =>
      names(await harness.call('GET', `${O}/agent-pools?q=sorted&sort=${sort}`));
    expect(await listed('')).toEqual(['sorted-a', 'sorted-b', 'sorted-c']);
    expect(await listed('-name')).toEqual(['sorted-c', 'sorted-b', 'sorted-a']);
    expect(await listed('created-at')).toEqual(['sorted-b', 'sorted-c', 'sorted-a']);
    expect(await listed('-created-at')).toEqual(['sorted-a', 'sorted-c', 'sorted-b']);
    const { list } = await harness.call('GET', `${O}/agent-pools?q=sorted`);
    for (const { id } of list) await harness.call('DELETE', `/agent-pools/${id}`);
  });

  test('can be filtered by a workspace or project that may use them, and include workspaces', async () => {
    const mine = await workspaceOf('mine');
    await workspaceOf('bare');
    const ofWorkspace = await named('of-workspace', 'workspaces', mine.id);
    await named('of-project', 'projects', projectId);
    await harness.create(`${O}/agent-pools`, 'agent-pools', { name: 'for-all' });
    const { token } = await harness.addUser('stranger-to-workspaces', teamId);
    const listed = async (query: string, as?: string) =>
      names(await harness.call('GET', `${O}/agent-pools?${query}`, undefined, as));
    expect(await listed('filter[allowed_workspaces][name]=mine')).toEqual([
      'for-all',
      'of-workspace',
    ]);
    expect(await listed('filter[allowed-workspaces][name]=bare')).toEqual(['for-all']);
    expect(await listed('filter[allowed_projects][name]=Shop')).toEqual(['for-all', 'of-project']);
    expect(await listed('filter[allowed_projects][name]=Shop&q=of')).toEqual(['of-project']);
    for (const kind of ['workspaces', 'projects']) {
      expect(await listed(`filter[allowed_${kind}][name]=nowhere`)).toEqual([]);
    }
    await harness.call('PATCH', `/workspaces/${mine.id}`, {
      data: {
        type: 'workspaces',
        attributes: { 'execution-mode': 'agent', 'agent-pool-id': ofWorkspace.id },
      },
    });
    for (const path of [`/agent-pools/${ofWorkspace.id}`, `${O}/agent-pools`]) {
      const reply = await harness.call('GET', `${path}?include=workspaces`);
      expect(reply.included.map(({ id }) => id)).toEqual([mine.id]);
    }
    // A pool is visible to every member, its workspaces only to callers who may read them.
    const other = await harness.create(`${O}/teams`, 'teams', { name: 'outside' });
    const outsider = await harness.addUser('outsider', other.id);
    const hidden = `/agent-pools/${ofWorkspace.id}?include=workspaces`;
    expect((await harness.call('GET', hidden, undefined, outsider.token)).included).toEqual([]);
    expect(await listed('filter[allowed_workspaces][name]=mine', outsider.token)).toEqual([]);
    expect(await listed('filter[allowed_projects][name]=Shop', outsider.token)).toEqual([]);
    expect(await listed('filter[allowed_projects][name]=Shop', token)).toContain('of-project');
  });
});

describe('include', () => {
  const included = async (path: string, include: string) => {
    const reply = await harness.call('GET', `${path}?include=${include}`);
    expect(reply.status).toBe(200);
    return reply.included.map(({ type }) => type);
  };

  test('of a project and of projects contains the effective bindings, with links to them', async () => {
    for (const path of [`/projects/${projectId}`, `${O}/projects`]) {
      const reply = await harness.call('GET', `${path}?include=effective_tag_bindings`);
      expect(reply.included).toMatchObject([
        { type: 'effective-tag-bindings', attributes: { key: 'cost', value: '1' } },
      ]);
      const project = [reply.data, ...(reply.list ?? [])]
        .flat()
        .find((shown) => shown?.id === projectId);
      const [{ id, type } = { id: '', type: '' }] = reply.included;
      expect(project?.relationships['effective-tag-bindings']?.data).toEqual([{ id, type }]);
    }
  });

  test('of an organization contains its default project and its entitlements', async () => {
    expect(await included(O, 'default-project')).toEqual(['projects']);
    expect(await included(O, 'entitlement_set')).toEqual(['entitlement-sets']);
    expect(await included(O, '')).toEqual([]);
  });

  test('of memberships contains the user and the teams', async () => {
    const { list } = await harness.call('GET', `${O}/organization-memberships?q=admin`);
    for (const path of [
      `/organization-memberships/${list[0]?.id}`,
      '/organization-memberships',
      `${O}/organization-memberships`,
    ]) {
      expect(new Set(await included(path, 'user,teams'))).toEqual(new Set(['users', 'teams']));
      // Whoever sees a membership sees its address, and clients look for it in the user.
      const { included: users } = await harness.call('GET', `${path}?include=user`);
      for (const { attributes } of users) expect(attributes['email']).toMatch(/@/);
      expect(await included(path, '')).toEqual([]);
    }
  });

  test('of OAuth clients contains their token and projects', async () => {
    const client = await harness.create(
      `${O}/oauth-clients`,
      'oauth-clients',
      {
        'service-provider': 'github',
        'http-url': 'https://github.example',
        'api-url': 'https://api.github.example',
        'oauth-token-string': 'hidden',
        'organization-scoped': false,
      },
      { relationships: { projects: { data: [{ type: 'projects', id: projectId }] } } },
    );
    for (const path of [`/oauth-clients/${client.id}`, `${O}/oauth-clients`]) {
      expect(await included(path, 'oauth_tokens,projects')).toEqual(['oauth-tokens', 'projects']);
      const reply = await harness.call('GET', `${path}?include=oauth_tokens`);
      expect(JSON.stringify(reply)).not.toContain('hidden');
    }
  });

  test('of a project requires the right to see it', async () => {
    const managing = { 'organization-access': { 'manage-vcs-settings': true } };
    const team = await harness.create(`${O}/teams`, 'teams', { name: 'connecting', ...managing });
    const { token } = await harness.addUser('connector', team.id);
    for (const path of [`${O}?include=default_project`, `${O}/oauth-clients?include=projects`]) {
      expect((await harness.call('GET', path)).included).toMatchObject([{ type: 'projects' }]);
      const seen = await harness.call('GET', path, undefined, token);
      expect([seen.status, seen.included]).toEqual([200, []]);
    }
  });

  test.for([
    `${O}/projects`,
    O,
    `${O}/organization-memberships`,
    '/organization-memberships',
    `${O}/oauth-clients`,
    `${O}/agent-pools`,
  ])('of %s is refused with an unknown name', async (path) => {
    expect((await harness.call('GET', `${path}?include=nonsense`)).status).toBe(400);
  });
});

test('a workspace can be updated with its own document', async () => {
  const { id } = await harness.create(`${O}/workspaces`, 'workspaces', { name: 'round' });
  await harness.call('PATCH', `/workspaces/${id}/tag-bindings`, {
    data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }],
  });
  const { data } = await harness.call('GET', `/workspaces/${id}`);
  // The document forbids the two together.
  const { operations: _, ...attributes } = data.attributes;
  const reply = await harness.call('PATCH', `/workspaces/${id}`, {
    data: { ...data, attributes: { ...attributes, description: 'changed' } },
  });
  expect(reply.status).toBe(200);
  const { list } = await harness.call('GET', `/workspaces/${id}/tag-bindings`);
  expect(list).toHaveLength(1);
});
