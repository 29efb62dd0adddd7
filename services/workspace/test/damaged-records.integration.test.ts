/** Records that a disk has damaged: each takes down what depends on it, and nothing else of its organization. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Harness, type Reply, startHarnessOf } from './workspace-harness.ts';

const O = '/organizations/acme';
let harness: Harness;
const ids: Record<string, string> = {};

beforeEach(async () => {
  harness = await startHarnessOf('acme', 'globex');
  for (const name of ['lost', 'kept']) {
    const make = async (path: string, type: string, attributes: object) =>
      (await harness.create(path, type, attributes)).id;
    ids[`team ${name}`] = await make(`${O}/teams`, 'teams', { name, visibility: 'organization' });
    ids[`project ${name}`] = await make(`${O}/projects`, 'projects', { name });
    ids[`workspace ${name}`] = await make(`${O}/workspaces`, 'workspaces', { name });
  }
});
afterEach(() => harness[Symbol.asyncDispose]());

/** Damages the one record of this kind with an id in its path. @returns its path */
const damage = async (prefix: string, id: string | undefined): Promise<string> => {
  const paths = await harness.store.stored.listPaths('replicated', `shared/${prefix}`, 1000);
  const [path] = paths.filter(
    (one) => one.startsWith(`shared/${prefix}/`) && one.endsWith(`/${id}`),
  );
  if (path === undefined) throw new Error(`no record of ${prefix} ${id}`);
  await harness.store.applyRecords('damage', [{ path, stored: Buffer.from([0]) }]);
  return path;
};
const get = (path: string, token?: string) => harness.call('GET', path, undefined, token);
const namesIn = async (path: string, attribute = 'name') => {
  const { status, list } = await get(path);
  expect(status).toBe(200);
  return list.map(({ attributes }) => attributes[attribute]);
};

test.for([
  ['workspaces', 'workspace', `${O}/workspaces`, '/workspaces/'],
  ['teams', 'team', `${O}/teams`, '/teams/'],
  ['projects', 'project', `${O}/projects`, '/projects/'],
] as const)(
  'a damaged record of the %s is refused with its path, and the list contains the others',
  async ([prefix, kind, list, address]) => {
    const path = await damage(prefix, ids[`${kind} lost`]);
    const { status, errors } = await get(address + ids[`${kind} lost`]);
    expect([status, errors[0]?.detail]).toEqual([500, expect.stringContaining(path)]);
    const names = await namesIn(list);
    expect(names).toContain('kept');
    expect(names).not.toContain('lost');
    expect((await get(address + ids[`${kind} kept`])).status).toBe(200);
    expect((await get(O)).status).toBe(200);
    expect(await harness.service.edge.check()).toEqual([
      'records that cannot be read (the log names them): 1',
    ]);
    await harness.runUpkeep();
  },
);

test.for([
  ['workspaces', 'workspace', `${O}/workspaces`],
  ['projects', 'project', `${O}/projects`],
] as const)(
  'the pages of %s keep their total, which includes damaged ones with a warning, and end',
  async ([prefix, kind, list]) => {
    const before = (await get(`${list}?page[size]=1`)).meta.pagination['total-count'] as number;
    await damage(prefix, ids[`${kind} lost`]);
    const shown: unknown[] = [];
    const warnings: string[] = [];
    let number: number | null | undefined = 1;
    while (number !== null && number !== undefined) {
      const page: Reply = await get(`${list}?page[size]=1&page[number]=${number}`);
      expect(page.meta.pagination['total-count']).toBe(before);
      shown.push(...page.list.map(({ attributes }) => attributes['name']));
      warnings.push(...(page.meta.warnings ?? []));
      number = page.meta.pagination['next-page'];
    }
    expect(shown).toHaveLength(before - 1);
    expect(shown).not.toContain('lost');
    expect(warnings).toEqual([
      '1 of the items that total-count includes cannot be read and are not on this page',
    ]);
  },
);

test('a damaged team leaves its members the rights of their other teams', async () => {
  const both = await harness.addUser('both', ids['team lost'] ?? '', ids['team kept'] ?? '');
  const only = await harness.addUser('only', ids['team lost'] ?? '');
  await damage('teams', ids['team lost']);
  for (const { token } of [both, only]) expect((await get(O, token)).status).toBe(200);
  expect((await get(`${O}/workspaces`, both.token)).status).toBe(200);
});

test('the user of a damaged membership is refused, and the list contains the others', async () => {
  const { token, id } = await harness.addUser('affected', ids['team kept'] ?? '');
  const other = await harness.addUser('other', ids['team kept'] ?? '');
  await damage('memberships', id);
  expect((await get(O, token)).status).toBe(500);
  expect((await get(O, other.token)).status).toBe(200);
  const emails = await namesIn(`${O}/organization-memberships`, 'email');
  expect(emails).toContain('other@keelson.example');
  expect(emails).not.toContain('affected@keelson.example');
  expect((await get('/organizations', token)).status).toBe(200);
});

test('a damaged organization leaves the others in the list', async () => {
  const [organization] = (await get('/organizations')).list.filter(
    ({ attributes }) => attributes['name'] === 'globex',
  );
  const path = await damage('organizations', String(organization?.attributes['external-id']));
  expect(await namesIn('/organizations')).toEqual(['acme']);
  const { status, errors } = await get('/organizations/globex');
  expect([status, errors[0]?.detail]).toEqual([500, expect.stringContaining(path)]);
  await harness.runUpkeep();
});

test('a damaged variable leaves the others in the list', async () => {
  const vars = `/workspaces/${ids['workspace kept']}/vars`;
  const [lost] = await Promise.all(
    ['lost', 'kept'].map((key) =>
      harness.create(vars, 'vars', { key, value: 'x', category: 'terraform' }),
    ),
  );
  await damage('variables', lost?.id);
  expect(await namesIn(vars, 'key')).toEqual(['kept']);
});

test('a variable that is only included: the workspace and the list are shown without it', async () => {
  const workspace = ids['workspace kept'];
  const [lost] = await Promise.all(
    ['lost', 'kept'].map((key) =>
      harness.create(`/workspaces/${workspace}/vars`, 'vars', {
        key,
        value: 'x',
        category: 'terraform',
      }),
    ),
  );
  await damage('variables', lost?.id);
  for (const path of [`/workspaces/${workspace}?include=vars`, `${O}/workspaces?include=vars`]) {
    const { status, included } = await get(path);
    expect([status, included.map(({ attributes }) => attributes['key'])]).toEqual([200, ['kept']]);
  }
});
