/** Relationships in the documents that make and change a workspace: what they may not hold. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarnessOf } from './workspace-harness.ts';

const COLLECTION = '/organizations/acme/workspaces';
let harness: Harness;
let workspaceId: string;
beforeAll(async () => {
  harness = await startHarnessOf('acme');
  workspaceId = (await harness.create(COLLECTION, 'workspaces', { name: 'app' })).id;
});
afterAll(() => harness[Symbol.asyncDispose]());

test.for([
  ['tags', [{ type: 'tags', attributes: { name: 'no blanks' } }], '0/attributes/name'],
  ['tags', [{ type: 'tag', attributes: { name: 'a' } }], '0/type'],
  ['tags', [{ type: 'tags', id: 'tag-1' }], '0/attributes'],
  ['tag-bindings', [{ type: 'tag-bindings', attributes: { key: 'hc:mine' } }], '0/attributes/key'],
  ['tag-bindings', [{ type: 'tags', attributes: { key: 'a' } }], '0/type'],
  ['project', { type: 'project', id: '' }, 'type'],
  ['project', { type: 'projects', id: 7 }, 'id'],
] as const)('the relationship %s is refused with %j', async ([name, data, at]) => {
  for (const [method, path] of [
    ['POST', COLLECTION],
    ['PATCH', `/workspaces/${workspaceId}`],
    ['PATCH', `${COLLECTION}/app`],
  ] as const) {
    const attributes = method === 'POST' ? { name: 'other' } : {};
    const { status, errors } = await harness.call(method, path, {
      data: { type: 'workspaces', attributes, relationships: { [name]: { data } } },
    });
    expect([status, errors.map(({ source }) => source?.pointer)]).toEqual([
      422,
      [`/data/relationships/${name}/data/${at}`],
    ]);
  }
});
