/** The lock of a workspace, in a record that locks write and changes of settings do not. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';
import { uploadsTo } from '../../../test/state-uploads.ts';
import { openOlderStore, storeUndivided } from '../../../test/undivided-workspace.ts';
import type { Harness } from '../../../test/workspace-harness.ts';
import { LOCKED_KEY } from '../listing/workspace-projections.ts';
import { UNLOCKED } from '../model/domain/lock.ts';
import { storeWorkspaceLocking, workspaceLocks } from '../model/workspace-lock-records.ts';
import { workspaceRecords } from '../model/workspace-records.ts';

let runs: Awaited<ReturnType<typeof startRunHarness>>;
let harness: Harness;
let id: string;
beforeEach(async () => {
  runs = await startRunHarness();
  ({ harness } = runs);
  id = await runs.makeWorkspace();
});
afterEach(() => harness[Symbol.asyncDispose]());

const act = (action: string, token?: string) =>
  harness.call('POST', `/workspaces/${id}/actions/${action}`, undefined, token);
const shown = async () => (await harness.call('GET', `/workspaces/${id}`)).data;
const describeAs = (description: string) =>
  harness.call('PATCH', `/workspaces/${id}`, {
    data: { type: 'workspaces', attributes: { description } },
  });
const countLocked = async () => (await harness.store.tallies('workspace', [LOCKED_KEY]))[0];
const writtenAt = async () => (await harness.store.read(workspaceRecords.path(id)))?.version;

describe('a lock', () => {
  test('that is taken, released, removed by force or held by a run leaves the workspace as it is', async () => {
    const before = await writtenAt();
    await act('lock');
    expect(await countLocked()).toBe(1);
    await act('unlock');
    expect(await countLocked()).toBe(0);
    await act('lock');
    await act('force-unlock');
    const runId = await runs.queue(id);
    await runs.claim();
    expect((await shown()).relationships['locked-by']?.data).toEqual({ id: runId, type: 'runs' });
    await act('force-unlock');
    expect(await runs.report(runId, { status: 'errored' })).toBe(204);
    expect(await workspaceLocks.find(harness.store, id)).toEqual(UNLOCKED);
    expect(await writtenAt()).toBe(before);
  });

  test('changes of settings and uploads at the same moment are all done', async () => {
    const states = uploadsTo(harness, id);
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, at) => [describeAs(`${at}`), act('lock')]).flat(),
    );
    const statuses = replies.map(({ status }) => status).sort((a, b) => a - b);
    expect(statuses).toEqual([...Array(11).fill(200), ...Array(9).fill(409)]);
    const [unlocked, uploaded] = await Promise.all([
      act('unlock'),
      states.announce(1, 'too late or in time'),
      describeAs('last'),
    ]);
    // One of the two succeeds: an unlock is refused while a state is pending, and a state is refused without the lock.
    expect([unlocked.status, uploaded.status].filter((status) => status < 300)).toHaveLength(1);
    expect((await shown()).attributes['description']).toBe('last');
  });

  test('is gone with its workspace', async () => {
    await act('lock');
    expect(await workspaceLocks.find(harness.store, id)).toMatchObject({ unlockedRunId: null });
    expect((await harness.call('DELETE', `/workspaces/${id}`)).status).toBe(204);
    expect(await workspaceLocks.find(harness.store, id)).toBeUndefined();
    expect(await countLocked()).toBe(0);
  });
});

describe('a lock that cannot be read', () => {
  const damage = async () => {
    const path = workspaceLocks.path(id);
    await harness.store.applyRecords('damage', [{ path, stored: Buffer.from([0]) }]);
    return path;
  };

  test('is refused by name, lets nobody write, and is removed by force only', async () => {
    await act('lock');
    const path = await damage();
    const refused = [
      await act('lock'),
      await act('unlock'),
      await act('safe-delete'),
      await harness.call('GET', `/workspaces/${id}`),
      await uploadsTo(harness, id).announce(1, 'x'),
    ];
    for (const { status, errors } of refused)
      expect([status, errors[0]?.detail]).toEqual([500, expect.stringContaining(path)]);
    await runs.queue(id);
    expect(await runs.claim()).toBeUndefined();
    const list = await harness.call('GET', '/organizations/acme/workspaces');
    expect(list.list.map((one) => one.id)).toEqual([id]);

    const { token } = await harness.addUser('reader');
    expect((await act('force-unlock', token)).status).toBe(404);
    const forced = await act('force-unlock');
    expect([forced.status, forced.data.attributes['locked']]).toEqual([200, false]);
    expect(await runs.claim()).toBeDefined();
    expect(await harness.store.findDamagedProjections()).toEqual([]);
  });

  test('keeps other runs waiting for the one that works with it, also when it is removed', async () => {
    const first = await runs.queue(id);
    await runs.claim();
    const second = await runs.queue(id);
    await damage();
    expect(await runs.claim()).toBeUndefined();
    const { meta } = await act('force-unlock');
    expect(meta).toMatchObject({ 'forced-unlock': { run: { id: first }, status: 'planning' } });
    expect(await runs.claim()).toBeUndefined();
    expect(await runs.report(first, { status: 'errored' })).toBe(204);
    expect((await runs.claim())?.id).toBe(second);
  });
});

describe('a workspace of the version before', () => {
  test('shows and counts the same, and is divided by its next lock', async () => {
    await act('lock');
    const locked = await shown();
    await storeUndivided(harness, id);
    expect(await shown()).toEqual(locked);
    expect(await countLocked()).toBe(1);
    await describeAs('still whole');
    expect((await act('lock')).status).toBe(409);
    expect((await act('safe-delete')).status).toBe(409);

    expect((await act('unlock')).status).toBe(200);
    expect(await workspaceRecords.find(harness.store, id)).not.toHaveProperty('locking');
    expect(await workspaceLocks.find(harness.store, id)).toEqual(UNLOCKED);
    expect((await shown()).attributes['locked']).toBe(false);
    expect(await countLocked()).toBe(0);
    expect(await harness.store.findDamagedProjections()).toEqual([]);
  });

  test('waits for the end of a run that has lost its lock, and is divided by it', async () => {
    const first = await runs.queue(id);
    await runs.claim();
    await act('force-unlock');
    const second = await runs.queue(id);
    await storeUndivided(harness, id);
    expect(await runs.claim()).toBeUndefined();
    expect(await runs.report(first, { status: 'errored' })).toBe(204);
    expect(await workspaceRecords.find(harness.store, id)).not.toHaveProperty('locking');
    expect((await runs.claim())?.id).toBe(second);
  });

  test('keeps its lock until all processes know where it will be', async () => {
    await act('lock');
    await storeUndivided(harness, id);
    const older = await workspaceRecords.find(harness.store, id);
    if (older?.locking === undefined) throw new Error(`${id} is divided`);
    await using others = await openOlderStore();
    const { store } = others;
    await store.transact((tx) => workspaceRecords.write(tx, id, older));
    await store.transact((tx) =>
      workspaceRecords.write(tx, id, storeWorkspaceLocking(tx, older, UNLOCKED)),
    );
    expect(await workspaceLocks.find(store, id)).toBeUndefined();
    expect(JSON.parse(String((await store.read(workspaceRecords.path(id)))?.value))).toMatchObject(
      UNLOCKED,
    );
  });
});
