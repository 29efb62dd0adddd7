/** Records that are deleted with a workspace, in each way of deleting it, and records that are kept. */
import { createHash } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';

const O = '/organizations/acme';
const { harness, act, agentIds, asRun, claim, claimAs, finish, makeWorkspace, queue, uploadTo } =
  await startRunHarness();
afterAll(() => harness[Symbol.asyncDispose]());

const identified = (type: string, id: string) => ({ data: { type, id } });

const storeState = async (at: string): Promise<void> => {
  const state = Buffer.from(
    JSON.stringify({ version: 4, serial: 1, outputs: { a: { value: 1 } } }),
  );
  await harness.call('POST', `${at}/actions/lock`);
  await harness.create(`${at}/state-versions`, 'state-versions', {
    serial: 1,
    md5: createHash('md5').update(state).digest('hex'),
    state: state.toString('base64'),
  });
  await harness.call('POST', `${at}/actions/unlock`);
};

/** A planned run with a log, a plan and a comment. */
const plan = async (workspaceId: string): Promise<string> => {
  const runId = await queue(workspaceId);
  const url = String((await claim())?.attributes['plan-file-upload-url']);
  expect((await harness.transfer('PUT', url, Buffer.from('plan'))).status).toBe(204);
  const log = { data: { type: 'logs', attributes: { text: 'Planning' } } };
  expect((await asRun(runId, 'POST', `/agent-runs/${runId}/logs`, log)).status).toBe(204);
  await harness.create(`/runs/${runId}/comments`, 'comments', { body: 'why' });
  expect(await finish(runId)).toBe(204);
  return runId;
};

/** A run that an agent works on. */
const begin = async (workspaceId: string): Promise<void> => {
  await queue(workspaceId);
  const { attributes } = (await claim()) ?? {};
  if (attributes?.['workspace-id'] !== workspaceId) throw new Error('nobody works on it');
};

/** A workspace with every kind of record that belongs to one. */
const populate = async (teamId: string, consumerId: string): Promise<string> => {
  const id = await makeWorkspace({ 'assessments-enabled': true });
  const at = `/workspaces/${id}`;
  for (const provisional of [false, true]) await uploadTo(id, { provisional }, { 'README.md': '' });
  await harness.create(`${at}/vars`, 'vars', { key: 'A', category: 'env' });
  const tags = [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }];
  await harness.call('PATCH', `${at}/tag-bindings`, { data: tags });
  const consumers = { data: [{ type: 'workspaces', id: consumerId }] };
  await harness.call('POST', `${at}/relationships/remote-state-consumers`, consumers);
  const limits = { deleteRunDataAndLogs: true, runDataAndLogsDeleteAfterNDays: 30 };
  const policy = { data: { type: 'data-retention-policy-delete-olders', attributes: limits } };
  const retention = await harness.call('POST', `${at}/relationships/data-retention-policy`, policy);
  expect(retention.status).toBe(200);
  await harness.create(
    '/team-workspaces',
    'team-workspaces',
    { access: 'read' },
    {
      relationships: {
        team: identified('teams', teamId),
        workspace: identified('workspaces', id),
      },
    },
  );
  await storeState(at);
  await act(await plan(id), 'discard');
  return id;
};

/**
 * Without the key that signs for runs, which the first run of an installation creates, and the events of the audit
 * trail, which remember what is gone.
 */
const paths = async () =>
  (await harness.store.scan('shared/'))
    .map(({ path }) => path)
    .filter((path) => !/^shared\/(?:audit-events\/|workload-keys\/runs$)/.test(path));

test.for([
  ['safely', 'POST', '/actions/safe-delete'],
  ['by force, while an agent works on it', 'DELETE', ''],
] as const)('%s, all of its records are deleted, and nothing else', async (given) => {
  const [way, method, action] = given;
  const team = await harness.create(`${O}/teams`, 'teams', { name: `readers-${way.length}` });
  const consumerId = await makeWorkspace();
  // Records that the first workspace of an organization creates are kept, and the keys of runs.
  await storeState(`/workspaces/${consumerId}`);
  await harness.runUpkeep();
  const before = await paths();
  const id = await populate(team.id, consumerId);
  if (method === 'DELETE') await begin(id);
  expect((await paths()).length).toBeGreaterThan(before.length + 20);
  expect((await harness.call(method, `/workspaces/${id}${action}`)).status).toBe(204);
  await harness.runUpkeep();
  expect(await paths()).toEqual(before);
  // Each is free, and there is nothing to do.
  for (const agentId of agentIds) expect((await claimAs(agentId)).status).toBe(204);
});
