import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';

let harness: Harness;
let path: string;
let workspaceId: string;
beforeAll(async () => {
  harness = await startHarness();
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  const made = await harness.create('/organizations/acme/workspaces', 'workspaces', {
    name: 'app',
  });
  workspaceId = made.id;
  path = `/workspaces/${workspaceId}/vars`;
});
afterAll(() => harness[Symbol.asyncDispose]());

const body = (attributes: object) => ({ data: { type: 'vars', attributes } });

describe('a variable', () => {
  test('that is sensitive is never shown, and stays sensitive', async () => {
    const secret = { key: 'TOKEN', value: 'hunter2', category: 'env', sensitive: true };
    const made = await harness.create(path, 'vars', secret);
    const shown = await harness.call('GET', path);
    const included = await harness.call('GET', `/workspaces/${workspaceId}?include=vars`);
    for (const reply of [made, shown, included]) {
      expect(JSON.stringify(reply)).not.toContain('hunter2');
    }
    expect(included.included.map(({ id }) => id)).toContain(made.id);
    const bared = await harness.call('PATCH', `${path}/${made.id}`, body({ sensitive: false }));
    expect(bared.status).toBe(422);
    expect(bared.errors[0]?.source?.pointer).toBe('/data/attributes/sensitive');
    const kept = await harness.call('PATCH', `/vars/${made.id}`, body({ value: 'other' }));
    expect(kept.data.attributes['value']).toBeNull();
    expect(kept.data.attributes['version-id']).not.toBe(made.attributes['version-id']);
  });

  test('has a unique key within its category', async () => {
    await harness.create(path, 'vars', { key: 'region', value: 'x', category: 'terraform' });
    const again = await harness.call('POST', path, body({ key: 'region', category: 'terraform' }));
    expect(again.errors[0]?.detail).toBe('Key has already been taken');
    await harness.create(path, 'vars', { key: 'region', value: 'x', category: 'env' });
  });

  test.for([
    [{ key: 'with space', category: 'terraform' }, '/data/attributes/key'],
    [{ key: 'with-hyphen', category: 'env' }, '/data/attributes/key'],
    [{ key: '-a', category: 'terraform' }, '/data/attributes/key'],
    [{ key: 'a', category: 'env', description: 'd'.repeat(513) }, '/data/attributes/description'],
    [{ key: 'a', category: 'env', hcl: true }, '/data/attributes/hcl'],
    [{ key: 'a', category: 'policy' }, '/data/attributes/category'],
    [{ category: 'env' }, '/data/attributes/key'],
    [{ key: '', category: 'env' }, '/data/attributes/key'],
    [{ key: 'a'.repeat(257), category: 'env' }, '/data/attributes/key'],
  ] as const)('refuses %j', async ([attributes, pointer]) => {
    const { status, errors } = await harness.call('POST', path, body(attributes));
    expect(status).toBe(422);
    expect(errors[0]?.source?.pointer).toBe(pointer);
  });

  test('needs its workspace in the document if the address names none', async () => {
    const { status, errors } = await harness.call(
      'POST',
      '/vars',
      body({ key: 'a', category: 'env' }),
    );
    expect([status, errors[0]?.source?.pointer]).toEqual([422, '/data/relationships/workspace']);
  });

  test('accepts a key of maximum length, and keeps its value and description until they are changed', async () => {
    const made = await harness.create(path, 'vars', {
      key: 'a'.repeat(256),
      value: 'v',
      description: 'd',
      category: 'env',
    });
    const change = async (attributes: object) =>
      (await harness.call('PATCH', `${path}/${made.id}`, body(attributes))).data.attributes;
    expect(await change({ value: null })).toMatchObject({ value: 'v', description: 'd' });
    expect(await change({ value: '', description: null })).toMatchObject({
      value: '',
      description: null,
    });
  });

  test.for([
    { key: '1abc', category: 'terraform' },
    { key: '0b3c9a2e-5d1f-4f7a-9d61-6e3c2f1a0b9c', category: 'terraform' },
    { key: '2FA', category: 'env', description: 'd'.repeat(512) },
  ])('can be created with %j', async (attributes) => {
    const made = await harness.create(path, 'vars', attributes);
    expect(made.attributes).toMatchObject(attributes);
  });

  test('has a relationship to its workspace until it is deleted', async () => {
    const made = await harness.create(path, 'vars', { key: 'gone', category: 'terraform' });
    const related = async () =>
      (await harness.call('GET', `/workspaces/${workspaceId}`)).data.relationships['vars']?.data;
    expect(await related()).toContainEqual({ id: made.id, type: 'vars' });
    expect((await harness.call('DELETE', `${path}/${made.id}`)).status).toBe(204);
    expect(await related()).not.toContainEqual({ id: made.id, type: 'vars' });
    expect((await harness.call('GET', `${path}/${made.id}`)).status).toBe(404);
  });

  test('is not found below another workspace', async () => {
    const made = await harness.create(path, 'vars', { key: 'own', category: 'terraform' });
    const other = await harness.create('/organizations/acme/workspaces', 'workspaces', {
      name: 'other',
    });
    expect((await harness.call('GET', `/workspaces/${other.id}/vars/${made.id}`)).status).toBe(404);
  });

  test.for(['vars', 'all-vars'])('is listed under %s without paging', async (name) => {
    const made = await harness.create(path, 'vars', { key: `of_${name.length}`, category: 'env' });
    const reply = await harness.call('GET', `/workspaces/${workspaceId}/${name}`);
    expect(reply.list.map(({ id }) => id)).toContain(made.id);
    expect(reply.meta).toBeUndefined();
  });
});

describe('variables that are changed together', () => {
  const change = (data: readonly object[]) =>
    harness.call('PATCH', `/workspaces/${workspaceId}/relationships/vars`, { data });
  const valueOf = async (key: string) =>
    (await harness.call('GET', path)).list.find(({ attributes }) => attributes['key'] === key)
      ?.attributes['value'];
  const item = (attributes: object, id?: string) => ({
    type: 'vars',
    attributes,
    ...(id && { id }),
  });

  test('can be added, and changed by id or by key and category', async () => {
    const made = await harness.create(path, 'vars', { key: 'by_id', value: '1', category: 'env' });
    await harness.create(path, 'vars', { key: 'by_key', value: '1', category: 'env' });
    const { status } = await change([
      item({ value: '2' }, made.id),
      item({ key: 'by_key', category: 'env', value: '2' }),
      item({ key: 'brand_new', category: 'terraform', value: '2', hcl: true }),
      // The same key of another category is another variable.
      item({ key: 'by_id', category: 'terraform', value: '3' }),
    ]);
    expect(status).toBe(204);
    expect(await Promise.all(['by_id', 'by_key', 'brand_new'].map(valueOf))).toEqual([
      '2',
      '2',
      '2',
    ]);
  });

  test('are changed together or not at all, and each error names its item', async () => {
    await harness.create(path, 'vars', { key: 'stays', value: '1', category: 'env' });
    const { status, errors } = await change([
      item({ key: 'stays', category: 'env', value: '2' }),
      item({ key: 'no good', category: 'env' }),
      item({ value: 'no key' }),
    ]);
    expect(status).toBe(422);
    expect(errors.map(({ source }) => source?.pointer)).toEqual([
      '/data/1/attributes/key',
      '/data/2/attributes',
    ]);
    expect(await valueOf('stays')).toBe('1');
    const unknown = await change([item({ value: '2' }, 'var-unknown'), item({ key: 'stays' })]);
    expect(unknown.status).toBe(404);
  });

  test('are limited to a thousand', async () => {
    const { list } = await harness.call('GET', path);
    const fill = Array.from({ length: 1000 - list.length }, (_, at) =>
      item({ key: `of_many_${at}`, category: 'env' }),
    );
    expect((await change([...fill, item({ key: 'more', category: 'env' })])).status).toBe(409);
    expect((await change(fill)).status).toBe(204);
    expect((await harness.call('POST', path, body({ key: 'more', category: 'env' }))).status).toBe(
      409,
    );
  });
});
