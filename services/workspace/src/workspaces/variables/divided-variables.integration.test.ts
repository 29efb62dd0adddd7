/** The ids of a workspace's variables, in a record that changes of settings do not write. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';
import { openOlderStore, storeUndivided } from '../../../test/undivided-workspace.ts';
import { workspaceRecords } from '../model/workspace-records.ts';
import {
  workspaceVariables,
  writeWorkspaceVariables,
} from '../model/workspace-variables-records.ts';

let runs: Awaited<ReturnType<typeof startRunHarness>>;
let id: string;
beforeEach(async () => {
  runs = await startRunHarness();
  id = await runs.makeWorkspace();
});
afterEach(() => runs.harness[Symbol.asyncDispose]());

const create = async (key: string) =>
  (await runs.harness.create(`/workspaces/${id}/vars`, 'vars', { key, category: 'env' })).id;
const remove = (variableId: string) =>
  runs.harness.call('DELETE', `/workspaces/${id}/vars/${variableId}`);
const listed = async () =>
  (await runs.harness.call('GET', `/workspaces/${id}/vars`)).list.map((one) => one.id);
const related = async () => {
  const { vars } = (await runs.workspaceOf(id)).relationships;
  return vars?.data;
};
const refer = (...ids: readonly string[]) => ids.map((one) => ({ id: one, type: 'vars' }));
const stored = () => workspaceVariables.find(runs.harness.store, id);
const writtenAt = async () => (await runs.harness.store.read(workspaceRecords.path(id)))?.version;

test('variables that are created and deleted leave the record of the workspace as it is', async () => {
  const before = await writtenAt();
  const [first, second, third] = [await create('a'), await create('b'), await create('c')];
  await remove(second);
  expect(await listed()).toEqual([first, third]);
  expect(await related()).toEqual(refer(first, third));
  expect(await writtenAt()).toBe(before);
});

test('new variables and changes of the settings at the same moment are all done', async () => {
  const changes = Array.from({ length: 10 }, (_, at) =>
    runs.harness.call('PATCH', `/workspaces/${id}`, {
      data: { type: 'workspaces', attributes: { description: `${at}` } },
    }),
  );
  const created = await Promise.all(Array.from({ length: 10 }, (_, at) => create(`k${at}`)));
  for (const { status } of await Promise.all(changes)) expect(status).toBe(200);
  expect((await listed()).sort()).toEqual(created.sort());
});

test('the ids are gone with their workspace', async () => {
  await create('a');
  expect(await stored()).toBeDefined();
  expect((await runs.harness.call('DELETE', `/workspaces/${id}`)).status).toBe(204);
  expect(await stored()).toBeUndefined();
});

test('ids that cannot be read are refused by name, start no run, and are replaced by the next change', async () => {
  const first = await create('a');
  const path = workspaceVariables.path(id);
  await runs.harness.store.applyRecords('damage', [{ path, stored: Buffer.from([0]) }]);
  for (const target of ['', '/vars', '/all-vars']) {
    const { status, errors } = await runs.harness.call('GET', `/workspaces/${id}${target}`);
    expect([status, errors[0]?.detail]).toEqual([500, expect.stringContaining(path)]);
  }
  await runs.queue(id);
  expect(await runs.claim()).toBeUndefined();
  const again = await runs.harness.call('POST', `/workspaces/${id}/vars`, {
    data: { type: 'vars', attributes: { key: 'a', category: 'env' } },
  });
  expect(again.status).toBe(422);
  const second = await create('b');
  expect(await listed()).toEqual([first, second]);
  expect(await runs.claim()).toBeDefined();
});

describe('a workspace of the version before', () => {
  test('shows the same, and is divided by its next variable', async () => {
    const first = await create('a');
    const shown = await runs.workspaceOf(id);
    await storeUndivided(runs.harness, id);
    expect(await runs.workspaceOf(id)).toEqual(shown);
    expect(await listed()).toEqual([first]);
    const second = await create('b');
    expect(await workspaceRecords.find(runs.harness.store, id)).not.toHaveProperty('variables');
    expect(await listed()).toEqual([first, second]);
    expect(await runs.harness.store.findDamagedProjections()).toEqual([]);
  });

  test('keeps the ids until all processes know where they will be', async () => {
    await create('a');
    await storeUndivided(runs.harness, id);
    const older = await workspaceRecords.find(runs.harness.store, id);
    if (older?.variables === undefined) throw new Error(`${id} is divided`);
    await using others = await openOlderStore();
    const { store } = others;
    for (const ids of [['var-1'], []]) {
      await store.transact((tx) => writeWorkspaceVariables(tx, older, ids));
      expect(await workspaceVariables.find(store, id)).toBeUndefined();
      const { value } = (await store.read(workspaceRecords.path(id))) ?? {};
      expect(JSON.parse(String(value))).toMatchObject({ variableIds: ids });
    }
  });
});
