/** A workspace that is shown again comes from memory, and never shows less than the last change. */

import { bufferedBody } from '@keelson/edge';
import { RequestHead } from '@keelson/proto/edge/v1/edge';
import { messageOf } from '@keelson/proto/message';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';

let harness: Harness;
let team: { id: string };
let user: { id: string; token: string };
let projectId: string;
let id: string;

beforeAll(async () => {
  harness = await startHarness();
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  const project = await harness.create('/organizations/acme/projects', 'projects', { name: 'Web' });
  projectId = project.id;
  team = await harness.create('/organizations/acme/teams', 'teams', {
    name: 'readers',
    'organization-access': { 'read-workspaces': true },
  });
  user = await harness.addUser('ada', team.id);
  const inProject = { relationships: { project: { data: { type: 'projects', id: projectId } } } };
  const at = '/organizations/acme/workspaces';
  ({ id } = await harness.create(at, 'workspaces', { name: 'site' }, inProject));
});
afterAll(() => harness[Symbol.asyncDispose]());

/** The very bytes of the answer: the same object when it came from memory. */
const show = async (path: string): Promise<unknown> => {
  const { principal } = await harness.service.identity.identify({ token: user.token });
  const { body } = await harness.service.edge.handle({
    head: messageOf(RequestHead, { method: 'GET', path, ...(principal && { principal }) }),
    body: bufferedBody(new Uint8Array()),
    signal: new AbortController().signal,
  });
  return body;
};

const attributesNow = async (path: string): Promise<Record<string, unknown>> =>
  (await harness.call('GET', path, undefined, user.token)).data.attributes;

const update = (path: string, type: string, attributes: object) =>
  harness.call('PATCH', path, { data: { type, attributes } });

/** A change, and the document that the user is shown after it. */
const CHANGES: readonly (readonly [string, () => Promise<unknown>, object])[] = [
  [
    'the workspace',
    () => update(`/workspaces/${id}`, 'workspaces', { description: 'new' }),
    { description: 'new' },
  ],
  [
    'its lock',
    () => harness.call('POST', `/workspaces/${id}/actions/lock`, { reason: 'mine' }),
    { locked: true },
  ],
  [
    'its lock again',
    () => harness.call('POST', `/workspaces/${id}/actions/unlock`),
    { locked: false },
  ],
  [
    'the project',
    () => update(`/projects/${projectId}`, 'projects', { 'default-execution-mode': 'local' }),
    { 'execution-mode': 'local' },
  ],
  [
    'the organization',
    () => update('/organizations/acme', 'organizations', { 'assessments-enforced': true }),
    { 'assessments-enabled': true },
  ],
  [
    'the access of the team',
    () =>
      update(`/teams/${team.id}`, 'teams', {
        'organization-access': { 'manage-workspaces': true },
      }),
    { permissions: expect.objectContaining({ 'can-update': true }) },
  ],
];

describe.for([
  ['by its id', (): string => `/workspaces/${id}`],
  ['by its names', (): string => '/organizations/acme/workspaces/site'],
] as const)('a workspace shown again %s', ([, path]) => {
  test('is not rendered again, whatever else changes', async () => {
    await show(path());
    const shown = await show(path());
    expect(await show(path())).toBe(shown);
    await harness.create('/organizations/acme/teams', 'teams', { name: `t-${path().length}` });
    expect(await show(path())).toBe(shown);
  });
});

test('a repeated show reflects a change of the site policy', async () => {
  const site = '/admin/data-retention-policy-settings';
  const type = 'data-retention-policy-delete-olders';
  const policy = { data: { type, attributes: { 'delete-older-than-n-days': 9 } } };
  const shown = async () => {
    await show(`/workspaces/${id}`);
    await show(`/workspaces/${id}`);
    const { data } = await harness.call('GET', `/workspaces/${id}`, undefined, user.token);
    return data.relationships['data-retention-policy']?.data;
  };
  expect(await shown()).toBeNull();
  const set = await harness.call('POST', site, policy);
  expect(await shown()).toEqual({ id: set.data.id, type });
  await harness.call('DELETE', site);
  expect(await shown()).toBeNull();
});

test.for(CHANGES)('a repeated show reflects a change of %s', async ([, change, expected]) => {
  const paths = [`/workspaces/${id}`, '/organizations/acme/workspaces/site'];
  await Promise.all(paths.map(show));
  const before = await Promise.all(paths.map(show));
  await change();
  const after = await Promise.all(paths.map(show));
  expect(after.map((body, index) => body === before[index])).toEqual([false, false]);
  for (const path of paths) expect(await attributesNow(path)).toMatchObject(expected);
});

test('a workspace is hidden from a user who has left the team', async () => {
  await show(`/workspaces/${id}`);
  await show(`/workspaces/${id}`);
  const members = { data: [{ type: 'users', id: 'ada' }] };
  await harness.call('DELETE', `/teams/${team.id}/relationships/users`, members);
  expect((await harness.call('GET', `/workspaces/${id}`, undefined, user.token)).status).toBe(404);
});

test('a workspace is hidden from everyone once it is deleted', async () => {
  const shown = () => harness.call('GET', `/workspaces/${id}`);
  expect([(await shown()).status, (await shown()).status]).toEqual([200, 200]);
  await harness.call('DELETE', `/workspaces/${id}`);
  expect((await shown()).status).toBe(404);
});
