/** Retention policies with a limit for each kind: their documents and their effect on each kind. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';

const DAY_MS = 86_400_000;
const TYPE = 'data-retention-policy-delete-olders';
let runs: Awaited<ReturnType<typeof startRunHarness>>;
beforeAll(async () => {
  runs = await startRunHarness();
});
afterAll(() => runs.harness[Symbol.asyncDispose]());

const policyOf = (workspaceId: string, method: string, attributes?: object) =>
  runs.harness.call(
    method,
    `/workspaces/${workspaceId}/relationships/data-retention-policy`,
    attributes && { data: { type: TYPE, attributes } },
  );
const makeWorkspace = () => runs.makeWorkspace();
const upkeepAfter = async (days: number) => {
  runs.harness.clock.advance(days * DAY_MS);
  // The agents are still there.
  await runs.wait(1);
  await runs.harness.runUpkeep();
};

const ALL = {
  deleteStateVersions: true,
  stateVersionsDeleteAfterNDays: 30,
  stateVersionsKeepLatestCount: 5,
  deleteConfigurationVersions: true,
  configurationVersionsDeleteAfterNDays: null,
  configurationVersionsKeepLatestCount: 3,
  deleteRunDataAndLogs: false,
  runDataAndLogsDeleteAfterNDays: null,
  runDataKeepLatestCount: null,
};

describe('limits for each kind', () => {
  test('are accepted and shown in both spellings, and keep the id of the policy', async () => {
    const id = await makeWorkspace();
    const days = await policyOf(id, 'POST', { deleteOlderThanNDays: 9 });
    expect(days.data.attributes).toEqual({
      'delete-older-than-n-days': 9,
      deleteOlderThanNDays: 9,
    });
    const made = await policyOf(id, 'POST', ALL);
    expect([made.status, made.data.id, made.data.type]).toEqual([200, days.data.id, TYPE]);
    expect(made.data.attributes).toMatchObject({
      ...ALL,
      'delete-state-versions': true,
      'state-versions-keep-latest-count': 5,
      'run-data-and-logs-delete-after-n-days': null,
    });
    expect(made.data.attributes).not.toHaveProperty('delete-older-than-n-days');
    const changed = await policyOf(id, 'PATCH', {
      'delete-run-data-and-logs': true,
      'run-data-and-logs-delete-after-n-days': 14,
    });
    expect(changed.data).toMatchObject({
      id: days.data.id,
      attributes: { deleteStateVersions: false, runDataAndLogsDeleteAfterNDays: 14 },
    });
    expect((await policyOf(id, 'GET')).data).toEqual(changed.data);
    const { relationships } = await runs.workspaceOf(id);
    expect(relationships['data-retention-policy']).toMatchObject({
      data: { id: days.data.id, type: TYPE },
    });
  });

  test.for([
    [{ ...ALL, deleteOlderThanNDays: 7 }, 'deleteOlderThanNDays'],
    [{ deleteStateVersions: true }, 'deleteStateVersions'],
    [{ stateVersionsDeleteAfterNDays: 7 }, 'stateVersionsDeleteAfterNDays'],
    [{ configurationVersionsKeepLatestCount: 7 }, 'configurationVersionsKeepLatestCount'],
    [{ deleteRunDataAndLogs: false, runDataKeepLatestCount: 1 }, 'runDataKeepLatestCount'],
    [{ deleteRunDataAndLogs: true, runDataKeepLatestCount: 0 }, 'runDataKeepLatestCount'],
    [{ deleteRunDataAndLogs: true, runDataKeepLatestCount: 100_001 }, 'runDataKeepLatestCount'],
    [
      { deleteStateVersions: true, stateVersionsDeleteAfterNDays: 0.5 },
      'stateVersionsDeleteAfterNDays',
    ],
    [{ deleteStateVersions: 'yes' }, 'deleteStateVersions'],
  ] as const)('are refused if they contradict each other: %j', async ([attributes, name]) => {
    const { status, errors } = await policyOf(await makeWorkspace(), 'POST', attributes);
    expect(status).toBe(422);
    expect(errors.map(({ source }) => source?.pointer)).toEqual([`/data/attributes/${name}`]);
  });

  test('are refused when no kind is deleted', async () => {
    const { status, errors } = await policyOf(await makeWorkspace(), 'POST', {
      deleteStateVersions: false,
    });
    expect([status, errors[0]?.source?.pointer]).toEqual([422, '/data/attributes']);
  });
});

const WITHHELD = 'backing_data_soft_deleted';
const DELETED = 'backing_data_permanently_deleted';

/** A run that only plans, with a log and a plan in its external form. */
const planOnce = async (workspaceId: string) => {
  const runId = await runs.queue(workspaceId, { 'plan-only': true });
  const phase = await runs.claim();
  await runs.asRun(runId, 'POST', `/agent-runs/${runId}/logs`, {
    data: { type: 'logs', attributes: { text: `the log of ${runId}` } },
  });
  await runs.harness.transfer(
    'PUT',
    String(phase?.attributes['json-output-upload-url']),
    Buffer.from('{}'),
  );
  await runs.finish(runId, false);
  return runId;
};

const left = async (runId: string) => {
  const planId = runId.replace('run-', 'plan-');
  const { data } = await runs.harness.call('GET', `/plans/${planId}`);
  const log = await runs.harness.transfer('GET', String(data.attributes['log-read-url']));
  const output = await runs.harness.call('GET', `/plans/${planId}/json-output`);
  return [log.text, output.status];
};
const whole = (runId: string) => [`\u0002the log of ${runId}\u0003`, 307];
/** Complete and empty, so that clients stop reading. */
const gone = ['\u0002\u0003', 204];

describe('a policy with limits', () => {
  test('keeps the newest states, whatever their age, and leaves configurations alone', async () => {
    const { harness } = runs;
    const id = await makeWorkspace();
    await harness.call('POST', `/workspaces/${id}/actions/lock`);
    const made: string[] = [];
    for (const serial of [1, 2, 3, 4]) {
      const state = JSON.stringify({ version: 4, serial, lineage: 'l' });
      const version = await harness.create(`/workspaces/${id}/state-versions`, 'state-versions', {
        serial,
        md5: createHash('md5').update(state).digest('hex'),
        state: Buffer.from(state).toString('base64'),
      });
      made.push(version.id);
      harness.clock.advance(1);
    }
    const older = (await runs.uploadTo(id)).id;
    await runs.uploadTo(id);
    const statuses = async () => {
      const shown = await Promise.all(
        [...made.map((one) => `/state-versions/${one}`), `/configuration-versions/${older}`].map(
          (path) => harness.call('GET', path),
        ),
      );
      return shown.map(({ data }) => data.attributes['status']);
    };
    const kept = ['finalized', 'finalized', 'finalized', 'finalized', 'uploaded'];
    const limits = { deleteStateVersions: true, stateVersionsKeepLatestCount: 2 };
    await policyOf(id, 'POST', { ...limits, stateVersionsDeleteAfterNDays: 5 });
    await upkeepAfter(4);
    expect(await statuses()).toEqual(kept);
    // With a count alone, versions are due after one day.
    await policyOf(id, 'POST', limits);
    await upkeepAfter(1);
    expect(await statuses()).toEqual([WITHHELD, WITHHELD, 'finalized', 'finalized', 'uploaded']);
    await upkeepAfter(7);
    expect(await statuses()).toEqual([DELETED, DELETED, 'finalized', 'finalized', 'uploaded']);
  });

  test('keeps the newest configurations, and states of any age', async () => {
    const { harness } = runs;
    const id = await makeWorkspace();
    const uploaded: string[] = [];
    // All are created in the same millisecond.
    for (let count = 0; count < 3; count += 1) uploaded.push((await runs.uploadTo(id)).id);
    await policyOf(id, 'POST', {
      deleteConfigurationVersions: true,
      configurationVersionsDeleteAfterNDays: 1,
      configurationVersionsKeepLatestCount: 2,
    });
    await upkeepAfter(2);
    const statuses = await Promise.all(
      uploaded.map(async (one) => {
        const { data } = await harness.call('GET', `/configuration-versions/${one}`);
        return data.attributes['status'];
      }),
    );
    expect(statuses).toEqual([WITHHELD, 'uploaded', 'uploaded']);
  });

  test('deletes logs and files of ended runs a week after withholding them', async () => {
    const { harness } = runs;
    const id = await makeWorkspace();
    const [oldest, older, newest] = [await planOnce(id), await planOnce(id), await planOnce(id)];
    await policyOf(id, 'POST', {
      deleteRunDataAndLogs: true,
      runDataAndLogsDeleteAfterNDays: 2,
      runDataKeepLatestCount: 1,
    });
    await upkeepAfter(2);
    await upkeepAfter(6);
    for (const runId of [oldest, older, newest]) expect(await left(runId)).toEqual(whole(runId));
    await upkeepAfter(1);
    expect(await left(oldest)).toEqual(gone);
    expect(await left(older)).toEqual(gone);
    expect(await left(newest)).toEqual(whole(newest));
    expect((await harness.call('GET', `/runs/${oldest}`)).data.attributes).toMatchObject({
      status: 'planned_and_finished',
    });
    // Without such a policy no run is read.
    expect(await harness.store.list('shared/run-data-policies/')).toContain(id);
    await policyOf(id, 'POST', { deleteOlderThanNDays: 1 });
    expect(await harness.store.list('shared/run-data-policies/')).not.toContain(id);
    await upkeepAfter(30);
    expect(await left(newest)).toEqual(whole(newest));
  });

  test('keeps the data of a run for a full week even if its round was suspended', async () => {
    const { harness } = runs;
    const id = await makeWorkspace();
    const runId = await planOnce(id);
    await planOnce(id);
    await policyOf(id, 'POST', { deleteRunDataAndLogs: true, runDataAndLogsDeleteAfterNDays: 2 });
    harness.clock.advance(2 * DAY_MS);
    const round = harness.service.periodicWork['run-data-retention']?.round({});
    // The machine was suspended meanwhile.
    harness.clock.advance(8 * DAY_MS);
    await round;
    await upkeepAfter(6);
    expect(await left(runId)).toEqual(whole(runId));
    await upkeepAfter(1);
    expect(await left(runId)).toEqual(gone);
  });

  test('keeps saved plans, the current run and states that exist nowhere else', async () => {
    const { harness } = runs;
    const id = await makeWorkspace();
    const claimNext = async () => {
      const phase = await runs.claim();
      const put = async (kind: string) => {
        const url = String(phase?.attributes[`${kind}-upload-url`]);
        expect((await harness.transfer('PUT', url, Buffer.from('{}'))).status).toBe(204);
      };
      return { put, attributes: phase?.attributes };
    };
    const plan = async (attributes: object, hasChanges: boolean) => {
      const runId = await runs.queue(id, attributes);
      const { put } = await claimNext();
      for (const kind of ['plan-file', 'json-output']) await put(kind);
      await runs.finish(runId, hasChanges);
      return runId;
    };
    const saved = await plan({ 'save-plan': true }, true);
    const broken = await plan({}, true);
    await runs.act(broken, 'apply');
    const { put } = await claimNext();
    await runs.report(broken, { status: 'errored' });
    await put('errored-state');
    const ended = await plan({ 'plan-only': true }, false);
    const current = await plan({}, false);
    await policyOf(id, 'POST', {
      deleteRunDataAndLogs: true,
      runDataAndLogsDeleteAfterNDays: 1,
    });
    await upkeepAfter(1);
    await upkeepAfter(7);
    const left = async (target: string) => (await harness.call('GET', target)).status;
    const plans = [saved, broken, ended, current].map((runId) =>
      left(`/runs/${runId}/plan/json-output`),
    );
    expect(await Promise.all(plans)).toEqual([307, 204, 204, 307]);
    expect(await left(`/applies/${broken.replace('run-', 'apply-')}/errored-state`)).toBe(307);
    await runs.act(saved, 'apply');
    const { attributes } = await claimNext();
    const planFile = String(attributes?.['plan-file-download-url']);
    expect((await harness.transfer('GET', planFile)).text).toBe('{}');
    await runs.finish(saved);
  });
});
