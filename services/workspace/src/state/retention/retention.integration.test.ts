import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';

const { harness, makeWorkspace, queue } = await startRunHarness();
let workspaceId: string;
let producerId: string;
let runId: string;

beforeAll(async () => {
  const at = '/organizations/acme/workspaces';
  ({ id: workspaceId } = await harness.create(at, 'workspaces', { name: 'w' }));
  ({ id: producerId } = await harness.create(at, 'workspaces', { name: 'producer' }));
  const consumers = { data: [{ type: 'workspaces', id: workspaceId }] };
  const related = `/workspaces/${producerId}/relationships/remote-state-consumers`;
  await harness.call('POST', related, consumers);
  runId = await queue(await makeWorkspace());
});
afterAll(() => harness[Symbol.asyncDispose]());

const DELETE_OLDERS = 'data-retention-policy-delete-olders';
const DONT_DELETES = 'data-retention-policy-dont-deletes';
const policy = (type: string, attributes: object = {}) => ({ data: { type, attributes } });
const ofWorkspace = (method: string, body?: unknown) =>
  harness.call(method, `/workspaces/${workspaceId}/relationships/data-retention-policy`, body);
const ofOrganization = (method: string, body?: unknown) =>
  harness.call(method, '/organizations/acme/relationships/data-retention-policy', body);

/** The same of the organization. */
const ofOrganizationEverywhere = async () => {
  const shown = [
    (await harness.call('GET', '/organizations/acme')).data,
    (await harness.call('GET', '/organizations')).list[0],
    (await harness.call('GET', '/organizations?page[size]=1')).list[0],
    (await harness.call('PATCH', '/organizations/acme', policy('organizations'))).data,
    (await harness.call('GET', `/workspaces/${workspaceId}?include=organization`)).included[0],
  ];
  return shown.map((resource) => resource?.relationships['data-retention-policy']?.data);
};

/** The relationship in every document that a workspace is shown in. */
const shownEverywhere = async () => {
  const at = `/workspaces/${workspaceId}`;
  const shown = [
    (await harness.call('GET', at)).data,
    (await harness.call('GET', '/organizations/acme/workspaces/w')).data,
    (await harness.call('GET', '/organizations/acme/workspaces')).list[0],
    (await harness.call('POST', `${at}/actions/lock`)).data,
    (await harness.call('POST', `${at}/actions/unlock`)).data,
    (await harness.call('GET', `/workspaces/${producerId}/relationships/remote-state-consumers`))
      .list[0],
    (await harness.call('GET', `/runs/${runId}?include=workspace`)).included[0],
  ];
  return shown.map((workspace) => workspace?.relationships['data-retention-policy']?.data);
};

describe('a data retention policy', () => {
  test('is absent by default, then inherited from the organization, then set on the workspace', async () => {
    expect((await ofWorkspace('GET')).status).toBe(404);
    expect((await ofWorkspace('POST')).status).toBe(404);
    await ofOrganization('POST', policy(DONT_DELETES));
    expect((await ofWorkspace('GET')).data).toMatchObject({ type: DONT_DELETES, attributes: {} });
    const own = await ofWorkspace('POST', policy(DELETE_OLDERS, { deleteOlderThanNDays: 7 }));
    expect(own.status).toBe(200);
    expect(own.data).toMatchObject({
      type: DELETE_OLDERS,
      attributes: { 'delete-older-than-n-days': 7 },
      relationships: { target: { data: { id: workspaceId, type: 'workspaces' } } },
    });
    expect((await ofWorkspace('POST')).data).toEqual(own.data);
    const forEver = await ofWorkspace('PATCH', policy(DONT_DELETES));
    expect(forEver.data).toMatchObject({ type: DONT_DELETES, attributes: {} });
    expect(forEver.data.id).not.toBe(own.data.id);
    const again = await ofWorkspace('PATCH', policy(DELETE_OLDERS, { deleteOlderThanNDays: 7 }));
    const shown = await harness.call('GET', `/workspaces/${workspaceId}`);
    const { id, type } = again.data;
    expect(shown.data.relationships['data-retention-policy']?.data).toEqual({ id, type });
  });

  test.for([
    ['the attribute of client libraries', DELETE_OLDERS, { 'delete-older-than-n-days': 9 }],
    ['the type of early clients', 'data-retention-policies', { 'delete-older-than-n-days': 9 }],
  ] as const)('can be changed with %s', async ([, type, attributes]) => {
    const { status, data } = await ofWorkspace('PATCH', policy(type, attributes));
    expect(status).toBe(200);
    expect(data).toMatchObject({ type: DELETE_OLDERS, attributes });
  });

  test.for([
    [{}, 'delete-older-than-n-days'],
    [{ 'delete-older-than-n-days': 0 }, 'delete-older-than-n-days'],
    [{ deleteOlderThanNDays: 0 }, 'deleteOlderThanNDays'],
    [{ deleteOlderThanNDays: 36_501 }, 'deleteOlderThanNDays'],
    [{ deleteOlderThanNDays: 'x' }, 'deleteOlderThanNDays'],
  ] as const)('is refused without a number of days: %j', async ([attributes, name]) => {
    const { status, errors } = await ofWorkspace('POST', policy(DELETE_OLDERS, attributes));
    expect(status).toBe(422);
    expect(errors[0]?.source?.pointer).toBe(`/data/attributes/${name}`);
  });

  test('that never deletes is refused if it has a number of days', async () => {
    const { status, errors } = await ofWorkspace(
      'POST',
      policy(DONT_DELETES, { deleteOlderThanNDays: 9 }),
    );
    expect([status, errors.map(({ source }) => source?.pointer)]).toEqual([
      422,
      ['/data/attributes/deleteOlderThanNDays'],
    ]);
  });

  test('gives way to the inherited one when it is removed', async () => {
    expect((await ofWorkspace('DELETE')).status).toBe(204);
    expect((await ofWorkspace('GET')).data.type).toBe(DONT_DELETES);
    expect((await ofWorkspace('DELETE')).status).toBe(404);
  });

  test('shows whose it is', async () => {
    await ofOrganization('POST', policy(DELETE_OLDERS, { deleteOlderThanNDays: 20 }));
    const inherited = await ofWorkspace('GET');
    const target = { data: { id: 'acme', type: 'organizations' } };
    expect(inherited.data.relationships['target']).toEqual(target);
    const organization = await harness.call('GET', '/organizations/acme');
    const named = { id: inherited.data.id, type: DELETE_OLDERS };
    expect(organization.data.relationships['data-retention-policy']?.data).toEqual(named);
    const workspace = await harness.call('GET', `/workspaces/${workspaceId}`);
    expect(workspace.data.relationships['data-retention-policy']?.data).toEqual(named);
  });

  test('of the site applies if an organization has none', async () => {
    const ofSite = (method: string, body?: unknown) =>
      harness.call(method, '/admin/data-retention-policy-settings', body);
    await ofOrganization('DELETE');
    expect((await ofSite('GET')).status).toBe(404);
    expect((await ofSite('DELETE')).status).toBe(404);
    const set = await ofSite('POST', policy(DELETE_OLDERS, { deleteOlderThanNDays: 90 }));
    expect(set.status).toBe(200);
    expect(set.data.relationships['target']).toEqual({ data: null });
    for (const reply of [await ofWorkspace('GET'), await ofOrganization('GET')]) {
      expect(reply.data).toEqual(set.data);
    }
    const changed = await ofSite('PATCH', policy(DELETE_OLDERS, { deleteOlderThanNDays: 60 }));
    expect(changed.data).toMatchObject({
      id: set.data.id,
      attributes: { 'delete-older-than-n-days': 60 },
    });
    const { id, type } = set.data;
    for (const shown of await shownEverywhere()) expect(shown).toEqual({ id, type });
    for (const shown of await ofOrganizationEverywhere()) expect(shown).toEqual({ id, type });
    const never = await ofSite('POST', policy(DONT_DELETES));
    expect([never.status, never.errors[0]?.source?.pointer]).toEqual([422, '/data/type']);
    expect((await ofSite('DELETE')).status).toBe(204);
    expect((await ofWorkspace('GET')).status).toBe(404);
    for (const shown of await shownEverywhere()) expect(shown).toBeNull();
    for (const shown of await ofOrganizationEverywhere()) expect(shown).toBeNull();
  });
});
