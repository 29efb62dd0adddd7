import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';

const O = '/organizations/acme';
let harness: Harness;
let first: string;
let second: string;
beforeAll(async () => {
  harness = await startHarness();
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  const make = async (name: string) =>
    (await harness.create(`${O}/workspaces`, 'workspaces', { name })).id;
  first = await make('first');
  second = await make('second');
});
afterAll(() => harness[Symbol.asyncDispose]());

const bind = (workspaceId: string, ...tagNames: readonly string[]) =>
  harness.call('POST', `/workspaces/${workspaceId}/relationships/tags`, {
    data: tagNames.map((name) => ({ type: 'tags', attributes: { name } })),
  });
const shown = async (query = '') => {
  const { list } = await harness.call('GET', `${O}/tags${query}`);
  return list.map(({ attributes }) => [attributes['name'], attributes['instance-count']]);
};

describe('tags of an organization', () => {
  test('are those of its workspaces, and can be deleted everywhere', async () => {
    await bind(first, 'net', 'prod');
    await bind(second, 'net');
    expect(await shown()).toEqual([
      ['net', 2],
      ['prod', 1],
    ]);
    expect(await shown('?q=RO')).toEqual([['prod', 1]]);
    expect(await shown('?filter[name]=RO')).toEqual([['prod', 1]]);
    expect(await shown(`?filter[exclude][taggable][id]=${second}`)).toEqual([['prod', 1]]);
    const { list } = await harness.call('GET', `${O}/tags`);
    const [net, prod] = list;
    await harness.call('POST', `/tags/${prod?.id}/relationships/workspaces`, {
      data: [{ type: 'workspaces', id: second }],
    });
    expect(await shown('?q=prod')).toEqual([['prod', 2]]);
    const gone = { data: [{ type: 'tags', id: net?.id }] };
    expect((await harness.call('DELETE', `${O}/tags`, gone)).status).toBe(204);
    expect(await shown()).toEqual([['prod', 2]]);
    const { data } = await harness.call('GET', `/workspaces/${first}`);
    expect(data.attributes['tag-names']).toEqual(['prod']);
    expect((await harness.call('DELETE', `${O}/tags`, gone)).status).toBe(404);
  });
});

test('tags have the age of their oldest binding, and exclude bindings with a value', async () => {
  harness.clock.advance(1000);
  await bind(first, 'aged');
  const age = async () =>
    (await harness.call('GET', `${O}/tags?q=aged`)).list[0]?.attributes['created-at'];
  const born = await age();
  harness.clock.advance(1000);
  await bind(second, 'aged');
  expect(await age()).toBe(born);
  const data = [{ type: 'tag-bindings', attributes: { key: 'valued', value: 'v' } }];
  await harness.call('PATCH', `/workspaces/${first}/tag-bindings`, { data });
  expect(await shown('?q=valued')).toEqual([]);
});

test('tags are bound to other workspaces with the same spelling', async () => {
  await harness.call('PATCH', `/workspaces/${first}/tag-bindings`, {
    data: [{ type: 'tag-bindings', attributes: { key: 'Spelled' } }],
  });
  const { list } = await harness.call('GET', `${O}/tags?q=spelled`);
  const data = [{ type: 'workspaces', id: second }];
  await harness.call('POST', `/tags/${list[0]?.id}/relationships/workspaces`, { data });
  expect(await shown('?q=spelled')).toEqual([['Spelled', 2]]);
});

describe('several workspaces', () => {
  test('are moved together or not at all', async () => {
    const project = await harness.create(`${O}/projects`, 'projects', { name: 'Target' });
    const move = (...ids: readonly string[]) =>
      harness.call('POST', `/projects/${project.id}/relationships/workspaces`, {
        data: ids.map((id) => ({ type: 'workspaces', id })),
      });
    const projectOf = async (id: string) =>
      (await harness.call('GET', `/workspaces/${id}`)).data.relationships['project']?.data;
    expect((await move(first, 'ws-none')).status).toBe(403);
    expect(await projectOf(first)).not.toMatchObject({ id: project.id });
    expect((await move(first, second)).status).toBe(204);
    for (const id of [first, second]) expect(await projectOf(id)).toMatchObject({ id: project.id });
    // An existing tag is not changed.
    const before = await harness.call('GET', `/workspaces/${first}`);
    harness.clock.advance(1000);
    expect((await move(first, second)).status).toBe(204);
    expect(await harness.call('GET', `/workspaces/${first}`)).toEqual(before);
  });
});

describe('an account', () => {
  test('can be changed by its owner, to an unused name', async () => {
    const { token } = await harness.addUser('ada');
    await harness.addUser('grace');
    const update = (attributes: object) =>
      harness.call('PATCH', '/account/update', { data: { type: 'users', attributes } }, token);
    expect((await update({ username: 'Grace' })).errors[0]?.detail).toBe(
      'Username has already been taken',
    );
    expect((await update({ email: 'nobody' })).errors[0]?.source?.pointer).toBe(
      '/data/attributes/email',
    );
    const changed = await update({ username: 'countess', email: 'ada@b.example' });
    expect(changed.data.attributes).toMatchObject({
      username: 'countess',
      email: 'ada@keelson.example',
      'unconfirmed-email': 'ada@b.example',
    });
    const freed = { username: 'ada', email: 'other-ada@keelson.example' };
    await harness.create('/admin/users', 'users', freed);
  });
});
