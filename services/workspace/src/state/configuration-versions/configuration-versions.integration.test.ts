/** Configuration versions: their list, which one is current, and how long files of the others are kept. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { archiveOf } from '../../../test/configuration-archive.ts';
import { startRunHarness } from '../../../test/run-harness.ts';

const DAY_MS = 86_400_000;
const FINISHED = { status: 'finished', 'has-changes': true };
let runs: Awaited<ReturnType<typeof startRunHarness>>;
let workspaceId: string;
/** The configuration version that is uploaded when the workspace is created. */
let firstId: string;

const call = (method: string, target: string, body?: unknown) =>
  runs.harness.call(method, target, body);
const show = async (id: string) => (await call('GET', `/configuration-versions/${id}`)).data;
const statusOf = async (id: string) => (await show(id)).attributes['status'];
const act = async (id: string, action: string) =>
  (await call('POST', `/configuration-versions/${id}/actions/${action}_backing_data`)).status;
const currentId = async () =>
  (
    (await runs.workspaceOf(workspaceId)).relationships['current-configuration-version'] as {
      data: { id: string };
    }
  ).data.id;

beforeAll(async () => {
  runs = await startRunHarness();
});
afterAll(() => runs.harness[Symbol.asyncDispose]());
beforeEach(async () => {
  workspaceId = await runs.makeWorkspace();
  firstId = await currentId();
});

describe('configuration versions', () => {
  test('are listed newest first, in pages', async () => {
    const ids = [firstId];
    for (let made = 0; made < 4; made += 1) ids.unshift((await runs.uploadTo(workspaceId)).id);
    const list = (page: string) =>
      call('GET', `/workspaces/${workspaceId}/configuration-versions?${page}`);
    const all = await list('');
    expect(all.list.map(({ id }) => id)).toEqual(ids);
    const second = await list('page[size]=2&page[number]=2');
    expect(second.list.map(({ id }) => id)).toEqual(ids.slice(2, 4));
    expect(second.meta.pagination['total-count']).toBe(5);
  });

  test('are deleted in steps, all of which except the last can be undone', async () => {
    expect(await act(firstId, 'soft_delete')).toBe(400);
    await runs.uploadTo(workspaceId);
    expect(await act(firstId, 'restore')).toBe(400);
    expect(await act(firstId, 'permanently_delete')).toBe(400);
    expect(await act(firstId, 'soft_delete')).toBe(204);
    expect(await show(firstId)).toMatchObject({
      attributes: {
        status: 'backing_data_soft_deleted',
        'status-timestamps': { 'backing-data-soft-deleted-at': expect.any(String) as string },
      },
    });
    const download = `/configuration-versions/${firstId}/download`;
    expect((await call('GET', download)).status).toBe(404);
    const body = {
      data: {
        type: 'runs',
        relationships: {
          workspace: { data: { type: 'workspaces', id: workspaceId } },
          'configuration-version': { data: { type: 'configuration-versions', id: firstId } },
        },
      },
    };
    expect((await call('POST', '/runs', body)).status).toBe(422);
    expect(await act(firstId, 'restore')).toBe(204);
    expect((await call('GET', download)).status).toBe(302);
    expect(await act(firstId, 'soft_delete')).toBe(204);
    expect(await act(firstId, 'permanently_delete')).toBe(204);
    expect(await statusOf(firstId)).toBe('backing_data_permanently_deleted');
    expect(await act(firstId, 'restore')).toBe(400);
  });

  test('can be uploaded again until a run uses them, replacing the previous upload', async () => {
    const announced = await runs.harness.create(
      `/workspaces/${workspaceId}/configuration-versions`,
      'configuration-versions',
      { 'auto-queue-runs': false },
    );
    const url = String(announced.attributes['upload-url']);
    const put = async (text: string) =>
      (await runs.harness.transfer('PUT', url, await archiveOf({ 'README.md': text }))).status;
    const chunks = async () => {
      await runs.harness.runUpkeep();
      return (await runs.harness.store.list('shared/state-chunks/')).length;
    };
    const readme = async () => {
      const shown = await call('GET', `/workspaces/${workspaceId}?include=readme`);
      return shown.included[0]?.attributes['raw-markdown'];
    };
    expect(await put('first')).toBe(204);
    const kept = await chunks();
    expect(await put('second')).toBe(204);
    expect(await chunks()).toBe(kept);
    expect(await readme()).toBe('second');
    const runId = await runs.queue(workspaceId);
    expect(await put('third')).toBe(409);
    await runs.act(runId, 'discard');
    // The ended run still shows the configuration version that it was planned with.
    expect(await put('third')).toBe(409);
    expect(await readme()).toBe('second');
  });

  test('accept only one upload if it queues a run, also when two arrive concurrently', async () => {
    const announced = await runs.harness.create(
      `/workspaces/${workspaceId}/configuration-versions`,
      'configuration-versions',
      {},
    );
    const url = String(announced.attributes['upload-url']);
    const put = (bytes: Uint8Array) => runs.harness.transfer('PUT', url, bytes);
    expect((await put(Uint8Array.of(0x1f, 0x8c))).status).toBe(400);
    const archive = Uint8Array.of(0x1f, 0x8b);
    const replies = await Promise.all([put(archive), put(archive)]);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([204, 409]));
    expect((await show(announced.id)).attributes['status-timestamps']).toEqual({
      'uploaded-at': new Date(runs.harness.clock.nowMs()).toISOString(),
    });
    const { list } = await call('GET', `/workspaces/${workspaceId}/runs`);
    expect(list).toHaveLength(1);
    await runs.act(list[0]?.id ?? '', 'discard');
  });

  test('leave nothing behind once they are archived or deleted', async () => {
    const archives = async () => {
      await runs.harness.runUpkeep();
      return (await runs.harness.store.list('shared/state-chunks/')).length;
    };
    const before = await archives();
    const second = (await runs.uploadTo(workspaceId)).id;
    await runs.uploadTo(workspaceId);
    expect(await archives()).toBe(before + 2);
    await call('POST', `/configuration-versions/${firstId}/actions/archive`);
    expect(await archives()).toBe(before + 1);
    for (const action of ['soft_delete', 'permanently_delete']) await act(second, action);
    expect(await archives()).toBe(before);
  });

  test('that are speculative are only planned, and never become current', async () => {
    await runs.uploadTo(workspaceId, { speculative: true, 'auto-queue-runs': true });
    expect(await currentId()).toBe(firstId);
    const path = `/workspaces/${workspaceId}/runs?filter[operation]=plan_only`;
    const { list } = await call('GET', path);
    expect(list.map(({ attributes }) => attributes['plan-only'])).toEqual([true]);
    await runs.act(list[0]?.id ?? '', 'cancel');
  });

  test.for([
    [{ provisional: true }, { 'save-plan': true, 'plan-only': false }],
    [
      { provisional: true, speculative: true },
      { 'save-plan': false, 'plan-only': true },
    ],
    [{}, { 'save-plan': false, 'plan-only': false }],
  ] as const)('announced with %j queue a run with %j', async ([given, attributes]) => {
    const { id } = await runs.uploadTo(workspaceId, { ...given, 'auto-queue-runs': true });
    const path = `/workspaces/${workspaceId}/runs?filter[status]=pending&filter[operation]=`;
    const { list } = await call('GET', `${path}plan_only,save_plan,plan_and_apply`);
    expect(list).toMatchObject([
      {
        attributes: { ...attributes, source: 'tfe-configuration-version' },
        relationships: {
          'configuration-version': { data: { id } },
          'created-by': { data: { id: (await call('GET', '/account/details')).data.id } },
        },
      },
    ]);
    await runs.act(list[0]?.id ?? '', 'discard');
  });

  test('keep the files that a run needs', async () => {
    const runId = await runs.queue(workspaceId);
    await runs.uploadTo(workspaceId);
    expect(await act(firstId, 'soft_delete')).toBe(400);
    await runs.act(runId, 'cancel');
    expect(await act(firstId, 'soft_delete')).toBe(204);
  });

  test('follow the retention policy, except the current one and those of open runs', async () => {
    const policy = { type: 'data-retention-policy-delete-olders', attributes: {} };
    await call('POST', `/workspaces/${workspaceId}/relationships/data-retention-policy`, {
      data: { ...policy, attributes: { deleteOlderThanNDays: 2 } },
    });
    const worked = (await runs.uploadTo(workspaceId)).id;
    const runId = await runs.queue(workspaceId);
    const current = (await runs.uploadTo(workspaceId)).id;
    const pending = await runs.harness.create(
      `/workspaces/${workspaceId}/configuration-versions`,
      'configuration-versions',
      {},
    );
    const upkeepAfter = async (days: number) => {
      runs.harness.clock.advance(days * DAY_MS);
      await runs.harness.runUpkeep();
      return Promise.all([firstId, worked, current, pending.id].map(statusOf));
    };
    expect(await upkeepAfter(1)).toEqual(['uploaded', 'uploaded', 'uploaded', 'pending']);
    const withheld = 'backing_data_soft_deleted';
    expect(await upkeepAfter(1)).toEqual([withheld, 'uploaded', 'uploaded', 'pending']);
    await runs.act(runId, 'cancel');
    const deleted = 'backing_data_permanently_deleted';
    expect(await upkeepAfter(1)).toEqual([withheld, withheld, 'uploaded', 'pending']);
    expect(await upkeepAfter(7)).toEqual([deleted, deleted, 'uploaded', 'pending']);
    // Only the archive of the current version is left of this workspace.
    await runs.harness.runUpkeep();
    expect(await runs.harness.store.scan('shared/loose-state-contents/')).toEqual([]);
  });

  const readmeOf = async () => {
    const { included } = await call('GET', `/workspaces/${workspaceId}?include=readme`);
    return included.map(({ attributes }) => attributes['raw-markdown']);
  };
  /** Plans and applies a run of a version. @returns the version that is current between the two */
  const applyRunOf = async (versionId: string, attributes: object = {}) => {
    const relationships = {
      workspace: { data: { type: 'workspaces', id: workspaceId } },
      'configuration-version': { data: { type: 'configuration-versions', id: versionId } },
    };
    const { id } = await runs.harness.create('/runs', 'runs', attributes, { relationships });
    const agentId = await runs.registerAgent('late');
    const endPhase = async () => {
      const { data: phase } = await runs.claimAs(agentId);
      expect(phase.id).toBe(id);
      const report = { data: { type: 'agent-runs', attributes: FINISHED } };
      const token = String(phase.attributes['token']);
      await runs.harness.call('PATCH', `/agent-runs/${id}`, report, token);
    };
    await endPhase();
    const between = await currentId();
    expect(await runs.act(id, 'apply')).toBe(202);
    await endPhase();
    return between;
  };

  test('become current with their upload, even if an earlier one is applied later', async () => {
    const newer = (await runs.uploadTo(workspaceId)).id;
    await applyRunOf(firstId);
    expect(await currentId()).toBe(newer);
  });

  test('show the README of the working directory; the next current one replaces it', async () => {
    workspaceId = await runs.makeWorkspace({ 'working-directory': 'deep' });
    await runs.uploadTo(workspaceId, {}, { 'README.md': 'top', 'deep/README.md': 'deep' });
    expect(await readmeOf()).toEqual(['deep']);
    const silent = await runs.uploadTo(workspaceId, { provisional: true });
    expect(await readmeOf()).toEqual(['deep']);
    await applyRunOf(silent.id);
    expect([await currentId(), await readmeOf()]).toEqual([silent.id, []]);
  });

  test('that are provisional become current with an apply, together with their README', async () => {
    const files = { 'README.md': 'provisional' };
    const { id } = await runs.uploadTo(workspaceId, { provisional: true }, files);
    expect([await currentId(), await readmeOf()]).toEqual([firstId, []]);
    expect(await applyRunOf(id, { 'save-plan': true })).toBe(firstId);
    expect([await currentId(), await readmeOf()]).toEqual([id, ['provisional']]);
  });
});
