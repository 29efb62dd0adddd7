/** The current configuration of a workspace, in a record that uploads write and changes of settings do not. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';
import { openOlderStore, storeUndivided } from '../../../test/undivided-workspace.ts';
import {
  storeWorkspaceConfiguration,
  workspaceConfigurations,
} from '../../workspaces/model/workspace-configuration-records.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';

let runs: Awaited<ReturnType<typeof startRunHarness>>;
let id: string;
beforeEach(async () => {
  runs = await startRunHarness();
  id = await runs.makeWorkspace();
});
afterEach(() => runs.harness[Symbol.asyncDispose]());

const README = { 'main.tf': '', 'README.md': '# Read me' };
const describeAs = (description: string) =>
  runs.harness.call('PATCH', `/workspaces/${id}`, {
    data: { type: 'workspaces', attributes: { description } },
  });
const current = async () => {
  const { relationships } = await runs.workspaceOf(id);
  const { 'current-configuration-version': version, readme } = relationships;
  return { id: (version?.data as { id: string } | null)?.id, hasReadme: readme?.data !== null };
};
const stored = () => workspaceConfigurations.find(runs.harness.store, id);
const workspace = () => workspaceRecords.find(runs.harness.store, id);
const writtenAt = async () => (await runs.harness.store.read(workspaceRecords.path(id)))?.version;

describe('an upload of a configuration', () => {
  test('of any kind leaves the record of the workspace as it is', async () => {
    const before = await writtenAt();
    const first = await runs.uploadTo(id, {}, README);
    expect(await current()).toEqual({ id: first.id, hasReadme: true });
    await runs.uploadTo(id, { speculative: true });
    const later = await runs.uploadTo(id, { provisional: true });
    expect(await current()).toEqual({ id: first.id, hasReadme: true });
    const body = {
      data: {
        type: 'runs',
        attributes: { 'auto-apply': true },
        relationships: {
          workspace: { data: { type: 'workspaces', id } },
          'configuration-version': { data: { type: 'configuration-versions', id: later.id } },
        },
      },
    };
    const { data } = await runs.harness.call('POST', '/runs', body);
    for (let phase = 0; phase < 2; phase += 1) {
      expect((await runs.claim())?.id).toBe(data.id);
      expect(await runs.finish(data.id)).toBe(204);
    }
    expect(await runs.statusOf(data.id)).toBe('applied');
    expect(await current()).toEqual({ id: later.id, hasReadme: false });
    expect(await writtenAt()).toBe(before);
  });

  test('and changes of the settings at the same moment are all done', async () => {
    const [uploads, changes] = await Promise.all([
      Promise.all(Array.from({ length: 10 }, () => runs.uploadTo(id))),
      Promise.all(Array.from({ length: 10 }, (_, at) => describeAs(`${at}`))),
    ]);
    expect(new Set(changes.map(({ status }) => status))).toEqual(new Set([200]));
    expect(uploads.map((one) => one.id)).toContain((await current()).id);
  });
});

test('the record is gone with its workspace', async () => {
  expect(await stored()).toBeDefined();
  expect((await runs.harness.call('DELETE', `/workspaces/${id}`)).status).toBe(204);
  expect(await stored()).toBeUndefined();
});

test('a record that cannot be read is refused by name, keeps the files, and is replaced by the next upload', async () => {
  const { id: versionId } = await current();
  const path = workspaceConfigurations.path(id);
  await runs.harness.store.applyRecords('damage', [{ path, stored: Buffer.from([0]) }]);
  const refused = [
    await runs.harness.call('GET', `/workspaces/${id}`),
    await runs.tryQueue(id),
    await runs.harness.call(
      'POST',
      `/configuration-versions/${versionId}/actions/soft_delete_backing_data`,
    ),
  ];
  for (const { status, errors } of refused)
    expect([status, errors[0]?.detail]).toEqual([500, expect.stringContaining(path)]);
  const next = await runs.uploadTo(id, {}, README);
  expect(await current()).toEqual({ id: next.id, hasReadme: true });
  await runs.queue(id);
  expect(await runs.claim()).toBeDefined();
});

describe('a workspace of the version before', () => {
  test('shows and plans the same, and is divided by its next upload', async () => {
    await runs.uploadTo(id, {}, README);
    const shown = await runs.workspaceOf(id);
    await storeUndivided(runs.harness, id);
    expect(await runs.workspaceOf(id)).toEqual(shown);
    await describeAs('still whole');
    await runs.queue(id, { 'plan-only': true });
    expect(await runs.claim()).toBeDefined();

    const next = await runs.uploadTo(id);
    expect(await workspace()).not.toHaveProperty('configuration');
    expect(await current()).toEqual({ id: next.id, hasReadme: false });
    expect(await runs.harness.store.findDamagedProjections()).toEqual([]);
  });

  test('keeps its configuration until all processes know where it will be', async () => {
    await storeUndivided(runs.harness, id);
    const older = await workspace();
    if (older?.configuration === undefined) throw new Error(`${id} is divided`);
    await using others = await openOlderStore();
    const { store } = others;
    const next = { currentId: 'cv-next', hasReadme: true };
    await store.transact((tx) =>
      workspaceRecords.write(tx, id, storeWorkspaceConfiguration(tx, older, next)),
    );
    expect(await workspaceConfigurations.find(store, id)).toBeUndefined();
    expect(JSON.parse(String((await store.read(workspaceRecords.path(id)))?.value))).toMatchObject({
      currentConfigurationVersionId: 'cv-next',
      hasReadme: true,
    });
  });
});
