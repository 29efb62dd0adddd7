import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from './workspace-harness.ts';

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

  test('has a key of its own in its category', async () => {
    await harness.create(path, 'vars', { key: 'region', value: 'x', category: 'terraform' });
    const again = await harness.call('POST', path, body({ key: 'region', category: 'terraform' }));
    expect(again.errors[0]?.detail).toBe('Key has already been taken');
    await harness.create(path, 'vars', { key: 'region', value: 'x', category: 'env' });
  });

  test.for([
    [{ key: 'with space', category: 'terraform' }, '/data/attributes/key'],
    [{ key: 'with-hyphen', category: 'env' }, '/data/attributes/key'],
    [{ key: 'a', category: 'env', hcl: true }, '/data/attributes/hcl'],
    [{ key: 'a', category: 'policy' }, '/data/attributes/category'],
    [{ category: 'env' }, '/data/attributes/key'],
  ] as const)('refuses %j', async ([attributes, pointer]) => {
    const { status, errors } = await harness.call('POST', path, body(attributes));
    expect(status).toBe(422);
    expect(errors[0]?.source?.pointer).toBe(pointer);
  });

  test('is related to its workspace until it is deleted', async () => {
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
});
