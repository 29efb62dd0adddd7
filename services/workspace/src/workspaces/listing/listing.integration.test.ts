import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, REQUESTED_URL, startHarness } from '../../../test/workspace-harness.ts';

let harness: Harness;
let projectId: string;

const COLLECTION = '/organizations/acme/workspaces';

const WORKSPACES = [
  ['web-prod', { env: 'prod', team: 'web' }, ['net']],
  ['web-staging', { env: 'staging', team: 'web' }, ['net', 'src:cli']],
  ['db-prod', { env: 'prod' }, []],
  ['Batch', {}, ['src:cli']],
  ['in_project', {}, []],
] as const;

beforeAll(async () => {
  harness = await startHarness();
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  const project = await harness.create(
    '/organizations/acme/projects',
    'projects',
    { name: 'Data team' },
    {
      relationships: {
        'tag-bindings': {
          data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }],
        },
      },
    },
  );
  projectId = project.id;
  for (const [name, bindings, tags] of WORKSPACES) {
    harness.clock.advance(1000);
    await harness.create(
      COLLECTION,
      'workspaces',
      { name },
      {
        relationships: {
          ...(name === 'in_project'
            ? { project: { data: { type: 'projects', id: projectId } } }
            : {}),
          tags: { data: tags.map((tag) => ({ type: 'tags', attributes: { name: tag } })) },
          'tag-bindings': {
            data: Object.entries(bindings).map(([key, value]) => ({ attributes: { key, value } })),
          },
        },
      },
    );
  }
});
afterAll(() => harness[Symbol.asyncDispose]());

const list = async (query: string) => {
  const reply = await harness.call('GET', `${COLLECTION}?${query}`);
  expect(reply.status).toBe(200);
  return {
    names: reply.list.map(({ attributes }) => String(attributes['name'])),
    pagination: reply.meta.pagination,
    links: reply.links,
    counts: (reply.meta as unknown as Record<string, unknown>)['status-counts'],
  };
};

const ALL = ['Batch', 'db-prod', 'in_project', 'web-prod', 'web-staging'];

describe('the list of workspaces', () => {
  test.for([
    ['', ALL],
    ['sort=name', ALL],
    ['sort=-name', ALL.toReversed()],
    ['sort=latest-change-at', WORKSPACES.map(([name]) => name)],
    ['sort=-latest-change-at', WORKSPACES.map(([name]) => name).toReversed()],
    // None has a run, so that they are in the order of their creation.
    ['sort=current-run.created-at', WORKSPACES.map(([name]) => name)],
    ['search[name]=PROD', ['db-prod', 'web-prod']],
    ['search[name]=n_p', ['in_project']],
    ['search[name]=%25', []],
    ['search[name]=_', ['in_project']],
    // Neither character is treated as a wildcard.
    ['search[name]=b_p', []],
    ['search[name]=b%25p&search[tags]=env', []],
    ['search[name]=b_p&search[tags]=env', []],
    ['search[wildcard-name]=*b_prod', []],
    ['search[wildcard-name]=web-*', ['web-prod', 'web-staging']],
    ['search[wildcard-name]=*-PROD', ['db-prod', 'web-prod']],
    ['search[wildcard-name]=*a*', ['Batch', 'web-staging']],
    ['search[wildcard-name]=web', []],
    ['search[wildcard-name]=web-prod', ['web-prod']],
    ['search[wildcard-name]=*', ALL],
    ['search[name]=web&search[wildcard-name]=*-prod', ['web-prod']],
    ['search[name]=&search[wildcard-name]=&search[tags]=&search[exclude-tags]=', ALL],
    ['filter[project][id]=&filter[current-run][status]=&sort=', ALL],
    ['search[tags]=net', ['web-prod', 'web-staging']],
    ['search[tags]=net,src:cli', ['web-staging']],
    ['search[tags]=env', ['db-prod', 'in_project', 'web-prod', 'web-staging']],
    ['search[tags]=ENV,Team', ['web-prod', 'web-staging']],
    ['search[tags]=NET', ['web-prod', 'web-staging']],
    ['search[exclude-tags]=Env', ['Batch']],
    ['search[exclude-tags]=NET', ['Batch', 'db-prod', 'in_project']],
    // The form that clients send for a key with any value.
    [
      'filter[tagged][0][key]=env&filter[tagged][0][value]=',
      ['db-prod', 'in_project', 'web-prod', 'web-staging'],
    ],
    [
      'filter[tagged][0][key]=env&filter[tagged][0][value]=&filter[tag-value-default-null]=true',
      [],
    ],
    ['filter[tagged][0][key]=Env', []],
    [
      'search[tags]=env&filter[tagged][0][key]=env&filter[tagged][0][value]=prod',
      ['db-prod', 'in_project', 'web-prod'],
    ],
    ['search[exclude-tags]=net', ['Batch', 'db-prod', 'in_project']],
    ['search[exclude-tags]=net,src:cli', ['db-prod', 'in_project']],
    ['filter[tagged][0][key]=env', ['db-prod', 'in_project', 'web-prod', 'web-staging']],
    [
      'filter[tagged][0][key]=env&filter[tagged][0][value]=prod',
      ['db-prod', 'in_project', 'web-prod'],
    ],
    [
      'filter[tagged][0][key]=env&filter[tagged][0][value]=prod&filter[tagged][1][key]=team&filter[tagged][1][value]=web',
      ['web-prod'],
    ],
    ['filter[tagged][0][key]=net', ['web-prod', 'web-staging']],
    [
      'filter[tagged][0][key]=env&filter[tagged][0][value]=test&filter[tagged][1][key]=team&filter[tag-union]=false',
      [],
    ],
    [
      'filter[tagged][0][key]=net&filter[tagged][1][key]=env&filter[tagged][1][value]=prod&filter[tag-union]=true',
      ['db-prod', 'in_project', 'web-prod', 'web-staging'],
    ],
    [
      'filter[tagged][0][key]=net&filter[tagged][1][key]=env&filter[tagged][1][value]=prod&filter[tag-union]=true&search[name]=db',
      ['db-prod'],
    ],
    [
      'filter[tagged][0][key]=src:cli&filter[tagged][1][key]=team&filter[tag-union]=true',
      ['Batch', 'web-prod', 'web-staging'],
    ],
    ['filter[tag-union]=true', ALL],
    ['filter[tagged][0][key]=env&filter[tag-value-default-null]=true', []],
    ['filter[tagged][0][key]=net&filter[tag-value-default-null]=true', ['web-prod', 'web-staging']],
    [
      'filter[tagged][0][key]=env&filter[tagged][0][value]=prod&filter[tag-value-default-null]=true',
      ['db-prod', 'in_project', 'web-prod'],
    ],
    ['filter[current-run][status]=applied', []],
    ['TagBindings={%2Benv%2Bprod}', ALL],
    ['search%5Bname%5D=db', ['db-prod']],
  ] as const)('%s', async ([query, names]) => {
    const found = await list(query);
    expect(found.names).toEqual(names);
    const { length } = names;
    expect(found.counts).toMatchObject({ none: ALL.length, total: ALL.length, matching: length });
  });

  test.for([
    ['search[tags]', 't', 'net'],
    ['search[exclude-tags]', 't', 'net'],
    ['filter[current-run][status]', 'applied', 'applied'],
  ] as const)('accepts twenty of %s, and refuses more', async ([parameter, each, last]) => {
    const given = (count: number) =>
      Array.from({ length: count }, (_, at) => (at === count - 1 ? last : each)).join(',');
    const twenty = await list(`${parameter}=${given(20)}`);
    expect(twenty.names).not.toContain('web-prod');
    const more = await harness.call('GET', `${COLLECTION}?${parameter}=${given(21)}`);
    expect([more.status, more.errors[0]?.source]).toEqual([422, { parameter }]);
  });

  test('accepts twenty of filter[tagged], and refuses more', async () => {
    const given = (count: number) =>
      Array.from({ length: count }, (_, at) => {
        const key = at === count - 1 ? 'none' : 'env';
        return `filter[tagged][${at}][key]=${key}`;
      }).join('&');
    expect((await list(given(20))).names).toEqual([]);
    const more = await harness.call('GET', `${COLLECTION}?${given(21)}`);
    expect([more.status, more.errors[0]?.source]).toEqual([422, { parameter: 'filter[tagged]' }]);
  });

  test.for(['name,-latest-change-at', 'colour', '-', 'Name'])(
    'refuses to sort by %s, and names the supported orders',
    async (sort) => {
      const { status, errors } = await harness.call('GET', `${COLLECTION}?sort=${sort}`);
      expect([status, errors[0]?.source]).toEqual([400, { parameter: 'sort' }]);
      expect(errors[0]?.detail).toContain('name, current-run.created-at, latest-change-at');
      const others = ['projects', 'agent-pools', 'team-tokens'].map((name) =>
        harness.call('GET', `/organizations/acme/${name}?sort=${sort}`),
      );
      for (const reply of await Promise.all(others)) expect(reply.status).toBe(400);
    },
  );

  test('of one project', async () => {
    expect((await list(`filter[project][id]=${projectId}`)).names).toEqual(['in_project']);
  });

  test('has pages that contain each workspace once', async () => {
    const seen: string[] = [];
    for (const number of [1, 2, 3]) {
      const { names, pagination, links } = await list(`page[size]=2&page[number]=${number}`);
      seen.push(...names);
      expect(pagination).toEqual({
        'current-page': number,
        'page-size': 2,
        'prev-page': number === 1 ? null : number - 1,
        'next-page': number === 3 ? null : number + 1,
        'total-pages': 3,
        'total-count': 5,
      });
      expect(links['prev'] === null).toBe(number === 1);
      expect(links['next'] === null).toBe(number === 3);
    }
    expect(seen).toEqual(ALL);
    expect((await list('page[number]=9')).names).toEqual([]);
    expect((await list('page[size]=1000')).pagination['page-size']).toBe(100);
  });

  test.for([
    ['', '20', '1'],
    ['search[name]=nowhere', '20', '1'],
    ['page[size]=2&page[number]=2', '2', '3'],
  ] as const)('links to its first and last page: %s', async ([query, size, lastNumber]) => {
    const { pagination, links } = await list(`${query}&sort=name`);
    expect(pagination['page-size']).toBe(Number(size));
    const number = String(pagination['current-page']);
    const pages = { self: number, first: '1', last: lastNumber };
    for (const [name, wanted] of Object.entries(pages)) {
      const { origin, pathname, searchParams } = new URL(links[name] ?? '');
      expect(`${origin}${pathname}`).toBe(`${REQUESTED_URL}/api/v2${COLLECTION}`);
      expect(['page[number]', 'page[size]', 'sort'].map((one) => searchParams.get(one))).toEqual([
        wanted,
        size,
        'name',
      ]);
    }
  });

  test('shows a caller the workspaces that their teams may read', async () => {
    const team = await harness.create('/organizations/acme/teams', 'teams', { name: 'readers' });
    const { token } = await harness.addUser('reader', team.id);
    const names = async () =>
      (await harness.call('GET', COLLECTION, undefined, token)).list.map(
        ({ attributes }) => attributes['name'],
      );
    expect(await names()).toEqual([]);
    const { data } = await harness.call('GET', `${COLLECTION}/db-prod`);
    const relationships = {
      team: { data: { type: 'teams', id: team.id } },
      workspace: { data: { type: 'workspaces', id: data.id } },
    };
    const grant = { access: 'read' };
    await harness.create('/team-workspaces', 'team-workspaces', grant, { relationships });
    expect(await names()).toEqual(['db-prod']);
    const access = { 'organization-access': { 'read-workspaces': true } };
    await harness.call('PATCH', `/teams/${team.id}`, {
      data: { type: 'teams', attributes: access },
    });
    expect(await names()).toEqual(ALL);
  });
});

test('projects are listed by their bindings', async () => {
  const names = async (query: string) =>
    (await harness.call('GET', `/organizations/acme/projects?${query}`)).list.map(
      ({ attributes }) => attributes['name'],
    );
  const one = 'filter[tagged][0][key]=env';
  expect(await names(one)).toEqual(['Data team']);
  expect(await names(`${one}&filter[tagged][0][value]=`)).toEqual(['Data team']);
  expect(await names(`${one}&filter[tagged][0][value]=prod`)).toEqual(['Data team']);
  expect(await names(`${one}&filter[tagged][0][value]=test`)).toEqual([]);
  expect(await names(`${one}&filter[tagged][1][key]=none`)).toEqual([]);
  expect(await names(`${one}&filter[tagged][1][key]=none&filter[tag-union]=true`)).toEqual([
    'Data team',
  ]);
  expect(await names('filter[tag-union]=true')).toEqual(['Data team', 'Default Project']);
});

describe('tags of a workspace', () => {
  const workspace = async () => (await harness.call('GET', `${COLLECTION}/db-prod`)).data.id;

  test('are bound by name, found by id, and gone once no workspace has them', async () => {
    const path = `/workspaces/${await workspace()}/relationships/tags`;
    const named = (name: string) => ({ data: [{ type: 'tags', attributes: { name } }] });
    expect((await harness.call('POST', path, named('Fresh'))).status).toBe(204);
    expect((await harness.call('POST', path, named('fresh'))).status).toBe(204);
    const { list: tags } = await harness.call('GET', path);
    expect(tags.map(({ attributes }) => attributes)).toMatchObject([
      { name: 'fresh', 'instance-count': 1 },
    ]);
    const byId = { data: [{ type: 'tags', id: tags[0]?.id }] };
    expect((await harness.call('DELETE', path, byId)).status).toBe(204);
    expect((await harness.call('GET', path)).list).toEqual([]);
    expect((await harness.call('DELETE', path, byId)).status).toBe(404);
    expect((await harness.call('DELETE', path, named('absent'))).status).toBe(204);
    expect((await harness.call('POST', path, named('no spaces'))).status).toBe(422);
  });

  test('take effect from the project unless the workspace has its own', async () => {
    const { data } = await harness.call('GET', `${COLLECTION}/in_project`);
    const path = `/workspaces/${data.id}`;
    const inherited = await harness.call('GET', `${path}/effective-tag-bindings`);
    expect(inherited.list).toMatchObject([
      {
        attributes: { key: 'env', value: 'prod' },
        links: { 'inherited-from': `/api/v2/projects/${projectId}` },
      },
    ]);
    const own = { data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'test' } }] };
    expect((await harness.call('PATCH', `${path}/tag-bindings`, own)).status).toBe(200);
    const mine = await harness.call('GET', `${path}/effective-tag-bindings`);
    expect(mine.list.map(({ attributes }) => attributes['value'])).toEqual(['test']);
    const filter = 'filter[tagged][0][key]=env&filter[tagged][0][value]=prod';
    expect((await list(filter)).names).not.toContain('in_project');
    const emptied = { data: [] };
    await harness.call('PATCH', `${path}/relationships/tag-bindings`, emptied);
    expect((await harness.call('GET', `${path}/tag-bindings`)).list).toEqual([]);
  });

  test('are limited to ten bindings', async () => {
    const path = `/workspaces/${await workspace()}/tag-bindings`;
    const data = Array.from({ length: 11 }, (_, at) => ({
      type: 'tag-bindings',
      attributes: { key: `k${at}`, value: 'v' },
    }));
    const { status, errors } = await harness.call('PATCH', path, { data });
    expect(status).toBe(422);
    expect(errors[0]?.detail).toContain('cannot exceed 10 bindings per resource');
  });
});
