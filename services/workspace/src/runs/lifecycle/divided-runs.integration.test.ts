/** The summary of a workspace's runs, in a record that runs write and changes of settings do not. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';
import { storeUndivided } from '../../../test/undivided-workspace.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';

let runs: Awaited<ReturnType<typeof startRunHarness>>;
let id: string;
beforeEach(async () => {
  runs = await startRunHarness();
  id = await runs.makeWorkspace();
});
afterEach(() => runs.harness[Symbol.asyncDispose]());

const workspace = async () => (await runs.harness.call('GET', `/workspaces/${id}`)).data;
const listed = async (status: string) => {
  const filter = `filter[current-run][status]=${status}`;
  const { list } = await runs.harness.call('GET', `/organizations/acme/workspaces?${filter}`);
  return list.map((one) => one.id);
};

test('a run that changes nothing leaves the record of the workspace as it is', async () => {
  const { store } = runs.harness;
  const writtenAt = async () => (await store.read(workspaceRecords.path(id)))?.version;
  const before = await writtenAt();
  const runId = await runs.queue(id, { 'plan-only': true });
  await runs.claim();
  await runs.report(runId, { status: 'errored' });
  expect(await runs.statusOf(runId)).toBe('errored');
  expect(await writtenAt()).toBe(before);
});

test('a workspace of the version before shows and lists the same, and is divided by its next run', async () => {
  const first = await runs.queue(id, {});
  expect(await listed('pending')).toEqual([id]);
  const shown = await workspace();
  await storeUndivided(runs.harness, id);
  expect(await workspace()).toEqual(shown);
  expect(await listed('pending')).toEqual([id]);

  await runs.act(first, 'cancel');
  expect(await listed('canceled')).toEqual([id]);
  const second = await runs.queue(id, {});
  expect(await workspaceRecords.find(runs.harness.store, id)).not.toHaveProperty('runs');
  expect((await workspace()).relationships).toMatchObject({
    'current-run': { data: { id: second } },
  });
  expect(await listed('pending')).toEqual([id]);
  expect(await runs.harness.store.findDamagedProjections()).toEqual([]);
});
