/** Tags of workspaces and projects: allowed names, keys and values, and what each endpoint changes. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Harness, type Reply, startHarness } from '../../../test/workspace-harness.ts';

const O = '/organizations/acme';
let harness: Harness;
let projectId: string;
let workspaceId: string;
let serial = 0;

beforeAll(async () => {
  harness = await startHarness();
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
});
afterAll(() => harness[Symbol.asyncDispose]());

beforeEach(async () => {
  const name = `tagged-${(serial += 1)}`;
  projectId = (await harness.create(`${O}/projects`, 'projects', { name })).id;
  const relationships = { project: { data: { type: 'projects', id: projectId } } };
  const workspace = { name };
  const made = await harness.create(`${O}/workspaces`, 'workspaces', workspace, { relationships });
  workspaceId = made.id;
});

type Given = Readonly<Record<string, string | null>>;
const bindings = (given: Given) => ({
  data: Object.entries(given).map(([key, value]) => ({
    type: 'tag-bindings',
    attributes: { key, ...(value !== null && { value }) },
  })),
});
const tags = (...names: readonly string[]) => ({
  data: names.map((name) => ({ type: 'tags', attributes: { name } })),
});
const document = (relationships: object) => ({
  data: { type: 'workspaces', attributes: {}, relationships },
});
const ofWorkspace = (method: string, path: string, body?: unknown) =>
  harness.call(method, `/workspaces/${workspaceId}${path}`, body);
const ofProject = (method: string, path: string, body?: unknown) =>
  harness.call(method, `/projects/${projectId}${path}`, body);
const bindingsIn = ({ list }: Reply) =>
  Object.fromEntries(list.map(({ attributes }) => [attributes['key'], attributes['value']]));
const bound = async () => bindingsIn(await ofWorkspace('GET', '/tag-bindings'));
const tagNames = async () => (await ofWorkspace('GET', '')).data.attributes['tag-names'];
const refusal = ({ status, errors }: Reply) => [
  status,
  errors.map(({ source }) => source?.pointer),
];
const numbered = (count: number) => Array.from({ length: count }, (_, at) => `k${at}`);

describe('a binding', () => {
  test.for([
    ['no blanks', 'v', 'key'],
    ['a/b', 'v', 'key'],
    ['', 'v', 'key'],
    ['hc:own', 'v', 'key'],
    ['hcp:own', 'v', 'key'],
    ['k', 'no blanks', 'value'],
    ['k', 'a/b', 'value'],
  ] as const)('is refused with key "%s" and value "%s"', async ([key, value, name]) => {
    const given = bindings({ key, ok: 'v' });
    given.data[0] = { type: 'tag-bindings', attributes: { key, value } };
    const at = `/data/0/attributes/${name}`;
    for (const reply of [
      await ofWorkspace('PATCH', '/tag-bindings', given),
      await ofWorkspace('POST', '/relationships/tag-bindings', given),
      await ofWorkspace('PATCH', '/relationships/tag-bindings', given),
      await ofProject('PATCH', '/tag-bindings', given),
      await ofProject('POST', '/relationships/tag-bindings', given),
      await ofProject('PATCH', '/relationships/tag-bindings', given),
    ]) {
      expect(refusal(reply)).toEqual([422, [at]]);
    }
    const update = await ofWorkspace('PATCH', '', document({ 'tag-bindings': given }));
    expect(refusal(update)).toEqual([422, [`/data/relationships/tag-bindings${at}`]]);
    expect(await bound()).toEqual({});
  });

  test('accepts every allowed character', async () => {
    const given = { 'A.b_c=d+e-f@g:h': 'A.b_c=d+e-f@g:h', hcx: '' };
    const { status } = await ofWorkspace('PATCH', '/tag-bindings', bindings(given));
    expect([status, await bound()]).toEqual([200, given]);
  });

  test('has a key of at most 128 and a value of at most 256 characters', async () => {
    const [key, value] = ['k'.repeat(128), 'v'.repeat(256)];
    const { status } = await ofWorkspace('PATCH', '/tag-bindings', bindings({ [key]: value }));
    expect([status, await bound()]).toEqual([200, { [key]: value }]);
    for (const [given, name] of [
      [{ [`${key}k`]: value }, 'key'],
      [{ [key]: `${value}v` }, 'value'],
    ] as const) {
      const reply = await ofWorkspace('PATCH', '/tag-bindings', bindings(given));
      expect(refusal(reply)).toEqual([422, [`/data/0/attributes/${name}`]]);
    }
  });

  test('is limited to ten, whatever its source, with or without a value', async () => {
    const ten = Object.fromEntries(numbered(10).map((key) => [key, 'v']));
    const eleven = bindings({ ...ten, more: 'v' });
    for (const reply of [
      await ofWorkspace('PATCH', '/tag-bindings', eleven),
      await ofProject('PATCH', '/tag-bindings', eleven),
    ]) {
      expect(refusal(reply)).toEqual([422, ['/data']]);
    }
    const pointers = ['/data/relationships/tag-bindings/data'];
    const relationships = { 'tag-bindings': eleven };
    expect(refusal(await ofWorkspace('PATCH', '', document(relationships)))).toEqual([
      422,
      pointers,
    ]);
    const made = await harness.call('POST', `${O}/workspaces`, {
      data: { type: 'workspaces', attributes: { name: 'too-many' }, relationships },
    });
    expect(refusal(made)).toEqual([422, pointers]);
    expect((await ofWorkspace('PATCH', '/tag-bindings', bindings(ten))).status).toBe(200);
    const flat = await ofWorkspace('POST', '/relationships/tags', tags('flat'));
    expect([refusal(flat), await bound()]).toEqual([[422, ['/data']], ten]);
    const without = bindings(
      Object.fromEntries([...numbered(10), 'more'].map((key) => [key, null])),
    );
    for (const path of ['/tag-bindings', '/relationships/tag-bindings']) {
      expect(refusal(await ofWorkspace('PATCH', path, without))).toEqual([422, ['/data']]);
    }
  });

  test('keeps its id, its age and its place when its value changes', async () => {
    await ofWorkspace('PATCH', '/tag-bindings', bindings({ a: '1', b: '1' }));
    const { list: before } = await ofWorkspace('GET', '/tag-bindings');
    harness.clock.advance(1000);
    const changed = await ofWorkspace('PATCH', '/tag-bindings', bindings({ a: '2' }));
    expect(bindingsIn(changed)).toEqual({ a: '2', b: '1' });
    await ofWorkspace('PATCH', '/relationships/tag-bindings', bindings({ b: '2', a: '3' }));
    const { list, links } = await ofWorkspace('GET', '/tag-bindings');
    const values = ['3', '2'];
    expect(list).toEqual(
      before.map((one, at) => ({ ...one, attributes: { ...one.attributes, value: values[at] } })),
    );
    expect(links).toEqual({ target: `/api/v2/workspaces/${workspaceId}` });
  });
});

describe('the bindings of a project', () => {
  test.for([
    ['PATCH', '/tag-bindings', 200, { a: '1', b: '2' }],
    ['POST', '/relationships/tag-bindings', 204, { a: '1', b: '2' }],
    ['PATCH', '/relationships/tag-bindings', 204, { b: '2' }],
  ] as const)('can be changed by %s %s', async ([method, path, status, after]) => {
    await ofProject('PATCH', '/relationships/tag-bindings', bindings({ a: '1', b: '1' }));
    const reply = await ofProject(method, path, bindings({ b: '2' }));
    expect(reply.status).toBe(status);
    expect(bindingsIn(await ofProject('GET', '/tag-bindings'))).toEqual(after);
    expect(bindingsIn(await ofProject('GET', '/relationships/tag-bindings'))).toEqual(after);
    await ofProject('PATCH', '/relationships/tag-bindings', bindings({}));
    expect(bindingsIn(await ofProject('GET', '/tag-bindings'))).toEqual({});
  });
});

describe('the bindings of a workspace', () => {
  test.for([
    ['PATCH', '/tag-bindings', 200, { a: '1', b: '2' }],
    ['POST', '/relationships/tag-bindings', 204, { a: '1', b: '2' }],
    ['PATCH', '/relationships/tag-bindings', 204, { b: '2' }],
  ] as const)('can be changed by %s %s', async ([method, path, status, after]) => {
    await ofWorkspace('PATCH', '/tag-bindings', bindings({ a: '1', b: '1' }));
    const reply = await ofWorkspace(method, path, bindings({ b: '2' }));
    expect(reply.status).toBe(status);
    for (const shown of [
      '/tag-bindings',
      '/relationships/tag-bindings',
      '/effective-tag-bindings',
    ]) {
      expect(bindingsIn(await ofWorkspace('GET', shown))).toEqual(after);
    }
  });

  test('are replaced by an update that contains them, and kept by one that does not', async () => {
    await ofWorkspace('PATCH', '/tag-bindings', bindings({ a: '1', b: '1' }));
    await ofWorkspace('PATCH', '', document({ 'tag-bindings': { links: {} } }));
    expect(await bound()).toEqual({ a: '1', b: '1' });
    await ofWorkspace('PATCH', '', document({ tags: tags('flat') }));
    expect(await bound()).toEqual({ a: '1', b: '1', flat: '' });
    await ofWorkspace('PATCH', '', document({ 'tag-bindings': bindings({ b: '2' }) }));
    expect(await bound()).toEqual({ b: '2' });
    await ofWorkspace('PATCH', '', document({ 'tag-bindings': bindings({}) }));
    expect(await bound()).toEqual({});
  });

  test('are in effect together with those of the project, as are flat tags', async () => {
    const { list, links } = await ofProject(
      'PATCH',
      '/tag-bindings',
      bindings({ of: 'project', a: '0' }),
    );
    expect(list.map(({ attributes }) => attributes['key'])).toEqual(['of', 'a']);
    expect(links).toEqual({ target: `/api/v2/projects/${projectId}` });
    await ofProject('PATCH', '/tag-bindings', bindings({ a: '1' }));
    for (const path of ['/tag-bindings', '/effective-tag-bindings']) {
      const own = await ofProject('GET', path);
      expect(bindingsIn(own)).toEqual({ of: 'project', a: '1' });
      for (const { links: from } of own.list) expect(from).toBeUndefined();
    }
    await ofWorkspace('PATCH', '/tag-bindings', bindings({ a: '2', flat: null }));
    const effective = await ofWorkspace('GET', '/effective-tag-bindings');
    expect(effective.list.map(({ attributes, links: from }) => [attributes, from])).toEqual([
      [{ key: 'a', value: '2' }, undefined],
      [{ key: 'flat', value: '' }, undefined],
      [{ key: 'of', value: 'project' }, { 'inherited-from': `/api/v2/projects/${projectId}` }],
    ]);
    expect(await tagNames()).toEqual(['flat']);
  });
});

describe('a flat tag', () => {
  test.for(['no blanks', 'no.dots', 'a=b', ''])('cannot be named "%s"', async (name) => {
    for (const method of ['POST', 'DELETE']) {
      const reply = await ofWorkspace(method, '/relationships/tags', tags('ok', name));
      expect(refusal(reply)).toEqual([422, ['/data/1/attributes/name']]);
    }
    const update = await ofWorkspace('PATCH', '', document({ tags: tags('ok', name) }));
    expect(refusal(update)).toEqual([422, ['/data/relationships/tags/data/1/attributes/name']]);
    expect(await tagNames()).toEqual([]);
  });

  test('has at most 255 characters', async () => {
    const longest = 't'.repeat(255);
    await ofWorkspace('POST', '/relationships/tags', tags(longest));
    expect(await tagNames()).toEqual([longest]);
    const reply = await ofWorkspace('POST', '/relationships/tags', tags(`${longest}t`));
    expect(refusal(reply)).toEqual([422, ['/data/0/attributes/name']]);
  });

  test('can be given by name or id', async () => {
    const reply = await ofWorkspace('POST', '/relationships/tags', { data: [{ type: 'tags' }] });
    expect(refusal(reply)).toEqual([422, ['/data/0']]);
  });

  test('leaves a binding with its key unchanged', async () => {
    await ofWorkspace('PATCH', '/tag-bindings', bindings({ a: '1' }));
    for (const method of ['POST', 'DELETE']) {
      const { status } = await ofWorkspace(method, '/relationships/tags', tags('a'));
      expect([status, await bound()]).toEqual([204, { a: '1' }]);
    }
    expect((await ofWorkspace('GET', '/relationships/tags')).list).toEqual([]);
  });

  test('is matched by name regardless of case, and by exact id', async () => {
    await ofWorkspace('PATCH', '/tag-bindings', bindings({ Prod: null, prod: null, Net: null }));
    await ofWorkspace('POST', '/relationships/tags', tags('NET', 'App'));
    expect(await tagNames()).toEqual(['Prod', 'prod', 'Net', 'app']);
    const { list } = await ofWorkspace('GET', '/relationships/tags');
    const byId = { data: [{ type: 'tags', id: list[1]?.id }] };
    await ofWorkspace('DELETE', '/relationships/tags', byId);
    expect(await tagNames()).toEqual(['Prod', 'Net', 'app']);
    await ofWorkspace('DELETE', '/relationships/tags', tags('prod', 'nEt', 'none'));
    expect(await tagNames()).toEqual(['app']);
  });

  test('is limited to ten, and a document as shown can be written back', async () => {
    const ten = tags(...numbered(10));
    expect((await ofWorkspace('POST', '/relationships/tags', ten)).status).toBe(204);
    const { list } = await ofWorkspace('GET', '/tag-bindings');
    const back = await ofWorkspace('PATCH', '/relationships/tag-bindings', { data: list });
    expect(back.status).toBe(204);
    const more = await ofWorkspace('POST', '/relationships/tags', tags('more'));
    expect(refusal(more)).toEqual([422, ['/data']]);
  });

  test('is listed in order of binding, by page and by part of its name', async () => {
    await ofWorkspace('POST', '/relationships/tags', tags('net', 'app', 'network'));
    const shown = async (query: string) => {
      const { list, meta } = await ofWorkspace('GET', `/relationships/tags?${query}`);
      return [list.map(({ attributes }) => attributes['name']), meta.pagination['total-count']];
    };
    expect(await shown('')).toEqual([['net', 'app', 'network'], 3]);
    expect(await shown('name=net')).toEqual([['net', 'network'], 2]);
    expect(await shown('page[size]=2&page[number]=2')).toEqual([['network'], 3]);
    const { list } = await ofWorkspace('GET', '/relationships/tags');
    expect(list[0]?.relationships['organization']?.data).toEqual({
      id: 'acme',
      type: 'organizations',
    });
  });
});
