/** The summary of a workspace's states, in a record that uploads write and changes of settings do not. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { stateText, uploadsTo } from '../../../test/state-uploads.ts';
import { openOlderStore, storeUndivided } from '../../../test/undivided-workspace.ts';
import { type Harness, startHarnessOf } from '../../../test/workspace-harness.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';
import {
  findWorkspaceState,
  workspaceStates,
  writeWorkspaceState,
} from '../../workspaces/model/workspace-state-records.ts';

let harness: Harness;
let id: string;
beforeEach(async () => {
  harness = await startHarnessOf('acme');
  id = await create('app');
});
afterEach(() => harness[Symbol.asyncDispose]());

const O = '/organizations/acme/workspaces';
const create = async (name: string): Promise<string> =>
  (await harness.create(O, 'workspaces', { name })).id;
const attributes = async () => (await harness.call('GET', `/workspaces/${id}`)).data.attributes;
const describeAs = (description: string) =>
  harness.call('PATCH', `/workspaces/${id}`, {
    data: { type: 'workspaces', attributes: { description } },
  });

describe('an upload', () => {
  test('of any kind leaves the record of the workspace as it is', async () => {
    const { lock, upload, rollBack } = uploadsTo(harness, id);
    await lock();
    const writtenAt = async () => (await harness.store.read(workspaceRecords.path(id)))?.version;
    const before = await writtenAt();
    const first = await upload(1);
    await upload(2, {}, { intermediate: true });
    await rollBack(first.id);
    expect(await writtenAt()).toBe(before);
    expect(await attributes()).toMatchObject({ 'resource-count': 1 });
  });

  test('and changes of the settings at the same moment are all done', async () => {
    const { lock, announce } = uploadsTo(harness, id);
    await lock();
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, at) => [
        describeAs(`${at}`),
        announce(at + 1, stateText(at + 1)),
      ]).flat(),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 201]));
    const workspace = await workspaceRecords.find(harness.store, id);
    expect(workspace && (await findWorkspaceState(harness.store, workspace))).toMatchObject({
      newestNumber: 20,
    });
  });
});

describe('a workspace of the version before', () => {
  test('shows and lists the same, and is divided by its next upload', async () => {
    const { lock, upload } = uploadsTo(harness, id);
    harness.clock.advance(1000);
    const later = await create('later');
    harness.clock.advance(1000);
    await lock();
    await upload(1, { resources: 3 });
    const sorted = async () =>
      (await harness.call('GET', `${O}?sort=-latest-change-at`)).list.map((one) => one.id);
    const shown = await attributes();
    await storeUndivided(harness, id);
    expect(await attributes()).toEqual(shown);
    expect(await sorted()).toEqual([id, later]);
    await describeAs('still whole');
    expect(await attributes()).toMatchObject({ 'resource-count': 3 });

    expect((await upload(2, { resources: 2 })).status).toBe(204);
    expect(await workspaceRecords.find(harness.store, id)).not.toHaveProperty('state');
    expect(await attributes()).toMatchObject({ 'resource-count': 2 });
    expect(await sorted()).toEqual([id, later]);
    expect(await harness.store.findDamagedProjections()).toEqual([]);
  });

  test('keeps the summary of its states until all processes know where it will be', async () => {
    await uploadsTo(harness, id).lock();
    await uploadsTo(harness, id).upload(1);
    await storeUndivided(harness, id);
    const older = await workspaceRecords.find(harness.store, id);
    if (older?.state === undefined) throw new Error(`${id} is divided`);
    await using others = await openOlderStore();
    const { store } = others;
    const next = { ...older.state, newestNumber: 7 };
    await store.transact((tx) => workspaceRecords.write(tx, id, older));
    await store.transact((tx) => writeWorkspaceState(tx, older, next));
    expect(await workspaceStates.find(store, id)).toBeUndefined();
    expect(JSON.parse(String((await store.read(workspaceRecords.path(id)))?.value))).toMatchObject({
      state: { newestNumber: 7 },
      latestChangeAtMs: next.latestChangeAtMs,
    });
    expect(await workspaceRecords.find(store, id)).toEqual({ ...older, state: next });
  });
});
