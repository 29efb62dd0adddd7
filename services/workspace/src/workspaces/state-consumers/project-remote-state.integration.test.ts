/** A workspace that shares its state with its project: which workspaces may read it, and who sees them. */
import { afterAll, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';

const O = '/organizations/acme';
const { harness, makeWorkspace, queue, claim, asRun, finish } = await startRunHarness();
afterAll(() => harness[Symbol.asyncDispose]());

const patch = (workspaceId: string, attributes: object, relationships: object = {}) =>
  harness.call('PATCH', `/workspaces/${workspaceId}`, {
    data: { type: 'workspaces', attributes, relationships },
  });
const consumersOf = (workspaceId: string) =>
  `/workspaces/${workspaceId}/relationships/remote-state-consumers`;
const shownOf = async (workspaceId: string, query = '') => {
  const { list, meta } = await harness.call('GET', `${consumersOf(workspaceId)}${query}`);
  expect(meta.pagination['total-count']).toBe(list.length);
  return list.map(({ id }) => id);
};
/** Whether a run of one workspace can read the other. */
const reads = async (consumer: string, producer: string) => {
  const runId = await queue(consumer, { 'plan-only': true });
  await claim();
  const { status } = await asRun(runId, 'GET', `/workspaces/${producer}/current-state-version`);
  const found = await asRun(runId, 'GET', `/workspaces/${producer}`);
  await finish(runId);
  return [found.status, status];
};
const refer = (...ids: readonly string[]) => ({
  data: ids.map((id) => ({ type: 'workspaces', id })),
});

test('the workspaces of the project can read the state and are listed instead of those named before', async () => {
  const project = await harness.create(`${O}/projects`, 'projects', { name: 'Shop' });
  const inProject = { project: { data: { type: 'projects', id: project.id } } };
  const [producer, neighbour, named] = [
    await makeWorkspace(),
    await makeWorkspace(),
    await makeWorkspace(),
  ];
  for (const id of [producer, neighbour]) {
    expect((await patch(id, {}, inProject)).status).toBe(200);
  }
  expect((await harness.call('POST', consumersOf(producer), refer(named))).status).toBe(204);
  expect(await shownOf(producer)).toEqual([named]);
  expect(await reads(neighbour, producer)).toEqual([404, 404]);
  // The workspace has no state yet, so that 200 refers to the workspace.
  expect(await reads(named, producer)).toEqual([200, 404]);

  await patch(producer, { 'project-remote-state': true });
  expect(await shownOf(producer)).toEqual([neighbour]);
  expect(await reads(neighbour, producer)).toEqual([200, 404]);
  expect(await reads(named, producer)).toEqual([404, 404]);
  for (const method of ['POST', 'PATCH', 'DELETE']) {
    const { status, errors } = await harness.call(method, consumersOf(producer), refer(named));
    expect([method, status, errors[0]?.source]).toEqual([method, 422, { pointer: '/data' }]);
    expect(errors[0]?.detail).toContain('project-remote-state');
  }
  expect(await shownOf(producer, '?show_only_configured=true')).toEqual([named]);

  await patch(producer, { 'project-remote-state': false });
  expect(await shownOf(producer)).toEqual([named]);
  expect(await reads(named, producer)).toEqual([200, 404]);
});

test('callers see only the part of the project visible to them', async () => {
  const producer = await makeWorkspace();
  const [seen] = [await makeWorkspace(), await makeWorkspace()];
  await patch(producer, { 'project-remote-state': true });
  const team = await harness.create(`${O}/teams`, 'teams', { name: 'readers' });
  for (const id of [producer, seen]) {
    await harness.create(
      '/team-workspaces',
      'team-workspaces',
      { access: 'read' },
      {
        relationships: {
          team: { data: { type: 'teams', id: team.id } },
          workspace: { data: { type: 'workspaces', id } },
        },
      },
    );
  }
  const { token } = await harness.addUser('reader', team.id);
  const { list } = await harness.call('GET', consumersOf(producer), undefined, token);
  expect(list.map(({ id }) => id)).toEqual([seen]);
});
