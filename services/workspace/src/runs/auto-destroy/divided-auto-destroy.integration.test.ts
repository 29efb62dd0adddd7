/** The outcome of an auto-destroy, in a record that changes of settings do not write. */
import type { Kysely } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';
import { uploadsTo } from '../../../test/state-uploads.ts';
import { openOlderStore, storeUndivided } from '../../../test/undivided-workspace.ts';
import type { WorkspaceTables } from '../../workspaces/listing/workspace-projections.ts';
import {
  autoDestroyOutcomes,
  storeAutoDestroyOutcome,
} from '../../workspaces/model/auto-destroy-records.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';

const DAY_MS = 86_400_000;
let runs: Awaited<ReturnType<typeof startRunHarness>>;
let id: string;
beforeEach(async () => {
  runs = await startRunHarness();
  id = await runs.makeWorkspace();
});
afterEach(() => runs.harness[Symbol.asyncDispose]());

const change = (attributes: object) =>
  runs.harness.call('PATCH', `/workspaces/${id}`, { data: { type: 'workspaces', attributes } });
/** Sets a time that is over when this returns. */
const becomeDue = async () => {
  const at = runs.harness.clock.nowMs() + DAY_MS;
  const { status } = await change({ 'auto-destroy-at': new Date(at).toISOString() });
  expect(status).toBe(200);
  runs.harness.clock.advance(DAY_MS);
  return at;
};
const addResources = async () => {
  const { lock, upload, unlock } = uploadsTo(runs.harness, id);
  await lock();
  await upload(1);
  await unlock();
};
const status = async () =>
  (await runs.workspaceOf(id)).attributes['auto-destroy-status'] as string | null;
const destroyRuns = async () => (await runs.harness.call('GET', `/workspaces/${id}/runs`)).list;
const row = async () => {
  const [found] = await runs.harness.store.select((tables: Kysely<WorkspaceTables>) =>
    tables
      .selectFrom('workspace')
      .select(['auto_destroy_at', 'auto_destroy_handled_at'])
      .where('id', '=', id),
  );
  return found;
};
const workspace = () => workspaceRecords.find(runs.harness.store, id);
const outcome = () => autoDestroyOutcomes.find(runs.harness.store, id);

test.for([
  ['nothing-to-destroy', () => Promise.resolve()],
  ['queued', addResources],
] as const)('an outcome, %s, leaves the record of the workspace as it is', async ([kind, fill]) => {
  await fill();
  const at = await becomeDue();
  const before = (await runs.harness.store.read(workspaceRecords.path(id)))?.version;
  expect(await row()).toEqual({ auto_destroy_at: at, auto_destroy_handled_at: 0 });
  await runs.harness.runUpkeep();
  await runs.harness.runUpkeep();
  expect(await status()).toBe(kind);
  expect(await outcome()).toEqual({ atMs: at, status: kind });
  expect(await row()).toEqual({ auto_destroy_at: null, auto_destroy_handled_at: at });
  expect(await destroyRuns()).toHaveLength(Number(kind === 'queued'));
  expect((await runs.harness.store.read(workspaceRecords.path(id)))?.version).toBe(before);
});

test('an outcome is gone with its workspace', async () => {
  await becomeDue();
  await runs.harness.runUpkeep();
  expect(await outcome()).toBeDefined();
  expect((await runs.harness.call('DELETE', `/workspaces/${id}`)).status).toBe(204);
  expect(await outcome()).toBeUndefined();
});

test('nothing is destroyed while the outcome cannot be read, and the next round replaces it', async () => {
  await addResources();
  await becomeDue();
  await runs.harness.runUpkeep();
  const path = autoDestroyOutcomes.path(id);
  await runs.harness.store.applyRecords('damage', [{ path, stored: Buffer.from([0]) }]);
  const { status: refused, errors } = await runs.harness.call('GET', `/workspaces/${id}`);
  expect([refused, errors[0]?.detail]).toEqual([500, expect.stringContaining(path)]);
  const at = runs.harness.clock.nowMs() + DAY_MS;
  await change({ 'auto-destroy-at': new Date(at).toISOString() });
  runs.harness.clock.advance(DAY_MS);
  await runs.harness.runUpkeep();
  expect(await status()).toBe('errored');
  expect(await outcome()).toEqual({ atMs: at, status: 'errored' });
  expect(await destroyRuns()).toHaveLength(1);
  expect(await runs.harness.store.findDamagedProjections()).toEqual([]);
});

describe('a workspace of the version before', () => {
  test('shows the same, is not destroyed again, and is divided by its next outcome', async () => {
    const first = await becomeDue();
    await runs.harness.runUpkeep();
    const shown = await runs.workspaceOf(id);
    await storeUndivided(runs.harness, id);
    expect(await runs.workspaceOf(id)).toEqual(shown);
    expect(await row()).toEqual({ auto_destroy_at: null, auto_destroy_handled_at: first });
    await addResources();
    await runs.harness.runUpkeep();
    expect(await destroyRuns()).toEqual([]);

    const second = await becomeDue();
    await runs.harness.runUpkeep();
    expect(await workspace()).not.toHaveProperty('autoDestroyed');
    expect(await outcome()).toEqual({ atMs: second, status: 'queued' });
    expect(await destroyRuns()).toHaveLength(1);
    expect(await runs.harness.store.findDamagedProjections()).toEqual([]);
  });

  test('keeps the outcome until all processes know where it will be', async () => {
    await becomeDue();
    await runs.harness.runUpkeep();
    await storeUndivided(runs.harness, id);
    const older = await workspace();
    if (older?.autoDestroyed === undefined) throw new Error(`${id} is divided`);
    await using others = await openOlderStore();
    const { store } = others;
    const next = { atMs: 7, status: 'errored' } as const;
    await store.transact((tx) =>
      workspaceRecords.write(tx, id, storeAutoDestroyOutcome(tx, older, next)),
    );
    expect(await autoDestroyOutcomes.find(store, id)).toBeUndefined();
    expect(JSON.parse(String((await store.read(workspaceRecords.path(id)))?.value))).toMatchObject({
      autoDestroyed: next,
    });
  });
});
