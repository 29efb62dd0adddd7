/**
 * Records of a workspace are damaged, one kind after the other. The runs of other workspaces are executed,
 * background work goes on, and the workspace can be deleted with everything that belongs to it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { populate } from './populated-workspace.ts';
import { startRunHarness } from './run-harness.ts';
import { stateText, uploadsTo } from './state-uploads.ts';
import type { Harness } from './workspace-harness.ts';

let runs: Awaited<ReturnType<typeof startRunHarness>>;
let harness: Harness;
let sourceId = '';
let otherId = '';
beforeAll(async () => {
  runs = await startRunHarness();
  ({ harness } = runs);
  [sourceId, otherId] = [await runs.makeWorkspace(), await runs.makeWorkspace()];
});
afterAll(() => harness[Symbol.asyncDispose]());

const damage = async (path: string): Promise<void> => {
  await harness.store.applyRecords('damage', [{ path, stored: Buffer.from([0]) }]);
};
/** A request that is refused because of this record. */
const expectRefused = async (path: string, method: string, target: string, body?: unknown) => {
  const { status, errors } = await harness.call(method, target, body);
  expect([status, errors[0]?.detail]).toEqual([500, expect.stringContaining(path)]);
};

const pathsNow = async () =>
  (await harness.store.stored.listPaths('replicated', 'shared/', 10_000)).filter((path) =>
    path.startsWith('shared/'),
  );

/** A populated workspace with a run that waits for an agent, and the records that came with it. */
const makePopulateed = async () => {
  const before = new Set(await pathsNow());
  const id = await runs.makeWorkspace();
  await populate(runs, id, sourceId);
  await runs.queue(id, { 'plan-only': true });
  return { id, paths: (await pathsNow()).filter((path) => !before.has(path)) };
};
const kindOf = (path: string): string => path.split('/')[1] ?? '';

/** The record of the workspace is needed to find what belongs to it. */
const NEEDED: readonly string[] = ['workspaces', 'workspace-names'];

/** Kinds of records that only a damaged one names, so that they stay; by its kind. */
const LOST: Readonly<Record<string, readonly string[]>> = {
  'run-comments': ['run-comment-places'],
  'configuration-versions': ['state-contents', 'state-chunks'],
  'state-versions': ['state-contents', 'state-chunks'],
  'state-contents': ['state-contents', 'state-chunks'],
};

test('other runs are executed, and the workspace can be deleted', async () => {
  const failures: string[] = [];
  const { id: first, paths: firstPaths } = await makePopulateed();
  await harness.call('DELETE', `/workspaces/${first}`);
  const kinds = new Set(firstPaths.map(kindOf));
  for (const kind of NEEDED) kinds.delete(kind);
  for (const kind of kinds) {
    const { id, paths } = await makePopulateed();
    const records = await harness.store.stored.read(paths.filter((path) => kindOf(path) === kind));
    const damaged = records.map((record) => ({ ...record, stored: Buffer.from([0]) }));
    await harness.store.applyRecords('damage', damaged);
    const note = (step: string, problem: unknown) =>
      failures.push(`${kind}: ${step}: ${String(problem)}`);
    const waiting = await runs.queue(otherId, { 'plan-only': true });
    await harness.runUpkeep().catch((error: unknown) => note('upkeep', error));
    for (let claims = 0; (await runs.statusOf(waiting)) === 'pending' && claims < 3; claims += 1) {
      const claimed = await runs.claim().catch((error: unknown) => note('claim', error));
      if (typeof claimed === 'object') await runs.report(claimed.id, { status: 'errored' });
    }
    const status = await runs.statusOf(waiting);
    if (status !== 'errored') note('run of another workspace', status);
    await runs.act(waiting, 'cancel');
    const { status: deleted, errors } = await harness.call('DELETE', `/workspaces/${id}`);
    if (deleted !== 204) note('deletion', `${deleted} ${errors[0]?.detail}`);
    else {
      // States and contents are removed in the background.
      await harness.runUpkeep().catch((error: unknown) => note('removal', error));
      const left = (await pathsNow()).filter(
        (path) =>
          paths.includes(path) &&
          // The organization keeps them.
          kindOf(path) !== 'audit-events' &&
          !LOST[kind]?.includes(kindOf(path)),
      );
      if (left.length > 0) note('left', left.join(' '));
    }
    await harness.store.applyRecords('repair', records);
    await harness.call('DELETE', `/workspaces/${id}`);
  }
  expect(failures).toEqual([]);
}, 120_000);

/** The records of the run and of its workspace; without them it is unknown which run ends. */
const NEEDED_TO_END: readonly string[] = [...NEEDED, 'runs'];

test.for(['planning', 'applying'])('a run that is %s ends', async (phase) => {
  const failures: string[] = [];
  const start = async () => {
    const before = new Set(await pathsNow());
    const id = await runs.makeWorkspace();
    await populate(runs, id, sourceId);
    const open = (await harness.call('GET', `/workspaces/${id}/runs`)).list[0]?.id ?? '';
    await runs.act(open, 'discard');
    const runId = await runs.queue(id, { 'auto-apply': true });
    await runs.claim();
    if (phase === 'applying') {
      await runs.finish(runId);
      await runs.claim();
    }
    expect(await runs.statusOf(runId)).toBe(phase);
    const paths = (await pathsNow()).filter((path) => !before.has(path));
    return { id, runId, paths };
  };
  const first = await start();
  expect(await runs.finish(first.runId)).toBe(204);
  await runs.act(first.runId, 'cancel');
  const kinds = new Set(first.paths.map(kindOf));
  for (const kind of [...NEEDED_TO_END, 'tokens']) kinds.delete(kind);
  for (const kind of kinds) {
    const { id, runId, paths } = await start();
    const records = await harness.store.stored.read(paths.filter((path) => kindOf(path) === kind));
    const damaged = records.map((record) => ({ ...record, stored: Buffer.from([0]) }));
    await harness.store.applyRecords('damage', damaged);
    const reported = await runs.report(runId, { status: 'finished', 'has-changes': true });
    if (reported !== 204) failures.push(`${kind}: the report is answered with ${reported}`);
    await harness.store.applyRecords('repair', records);
    await runs.report(runId, { status: 'errored' });
    await runs.act(runId, 'cancel');
    await harness.call('DELETE', `/workspaces/${id}`);
  }
  expect(failures).toEqual([]);
});

test('the lock of a run that cannot be read can be removed by force, and the next run is executed', async () => {
  const id = await runs.makeWorkspace();
  const lost = await runs.queue(id);
  await runs.claim();
  await runs.finish(lost);
  const next = await runs.queue(id);
  const path = `shared/runs/${lost}`;
  await damage(path);
  await expectRefused(path, 'GET', `/runs/${lost}`);
  await expectRefused(path, 'POST', `/runs/${lost}/actions/discard`);
  expect(await runs.claim()).toBeUndefined();
  const unlocked = await harness.call('POST', `/workspaces/${id}/actions/force-unlock`);
  expect([unlocked.status, unlocked.data.attributes['locked']]).toEqual([200, false]);
  expect((await runs.claim())?.id).toBe(next);
  expect(await runs.report(next, { status: 'errored' })).toBe(204);
});

describe('a current state that cannot be read', () => {
  const withLostState = async () => {
    const id = await runs.makeWorkspace();
    const states = uploadsTo(harness, id);
    await states.lock();
    const older = await states.upload(1);
    const lost = await states.upload(2);
    const path = `shared/state-versions/${lost.id}`;
    await damage(path);
    await expectRefused(path, 'GET', `/workspaces/${id}/current-state-version`);
    return { id, states, older, path };
  };
  const serialOf = async (id: string) =>
    (await harness.call('GET', `/workspaces/${id}/current-state-version`)).data.attributes[
      'serial'
    ];

  test('is replaced by a rollback', async () => {
    const { id, states, older } = await withLostState();
    expect((await states.rollBack(older.id)).status).toBe(201);
    expect(await serialOf(id)).toBe(1);
    expect((await states.unlock()).status).toBe(200);
  });

  test('is replaced by a forced state only', async () => {
    const { id, states, path } = await withLostState();
    const refused = await states.announce(3, stateText(3));
    expect([refused.status, refused.errors[0]?.detail]).toEqual([
      500,
      expect.stringContaining(path),
    ]);
    expect((await states.upload(3, {}, { force: true })).status).toBe(204);
    expect(await serialOf(id)).toBe(3);
    expect((await states.unlock()).status).toBe(200);
  });
});

test('a configuration that cannot be read is refused by name, and replaced by the next upload', async () => {
  const id = await runs.makeWorkspace();
  const { relationships } = await runs.workspaceOf(id);
  const lost = (relationships['current-configuration-version'] as { data: { id: string } }).data.id;
  const path = `shared/configuration-versions/${lost}`;
  await damage(path);
  await expectRefused(path, 'GET', `/configuration-versions/${lost}`);
  const refused = await runs.tryQueue(id);
  expect([refused.status, refused.errors[0]?.detail]).toEqual([500, expect.stringContaining(path)]);
  await runs.uploadTo(id);
  const run = await runs.queue(id);
  expect((await runs.claim())?.id).toBe(run);
  expect(await runs.report(run, { status: 'errored' })).toBe(204);
});
