/** Relationships in requests that create and change a workspace: their allowed contents. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, type Reply, startHarnessOf } from '../../../test/workspace-harness.ts';

const COLLECTION = '/organizations/acme/workspaces';
let harness: Harness;
let workspaceId: string;
let serial = 0;
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

test.for([
  {},
  { data: null },
  { data: { type: 'projects' } },
  { data: { type: 'projects', id: null } },
  { data: { type: 'projects', id: '' } },
])('the project %j means the default one, and does not move the workspace', async (project) => {
  const projectOf = ({ data }: Reply) => data.relationships['project']?.data;
  const organization = await harness.call('GET', '/organizations/acme');
  const byDefault = organization.data.relationships['default-project']?.data;
  const made = await harness.call('POST', COLLECTION, {
    data: {
      type: 'workspaces',
      attributes: { name: `in-${(serial += 1)}` },
      relationships: { project },
    },
  });
  expect(projectOf(made)).toEqual(byDefault);
  const path = `/workspaces/${made.data.id}`;
  const { id } = await harness.create('/organizations/acme/projects', 'projects', {
    name: `Project ${serial}`,
  });
  for (const given of [{ data: { type: 'projects', id } }, project]) {
    const moved = await harness.call('PATCH', path, {
      data: { type: 'workspaces', relationships: { project: given } },
    });
    expect([moved.status, projectOf(moved)]).toEqual([200, { id, type: 'projects' }]);
  }
});
