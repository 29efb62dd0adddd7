/** Health assessments: queued once a day, executed by an agent, shown with the workspace. */
import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';

const O = '/organizations/acme';
const DAY_MS = 86_400_000;
let runs: Awaited<ReturnType<typeof startRunHarness>>;
beforeAll(async () => {
  runs = await startRunHarness();
});
afterAll(() => runs.harness[Symbol.asyncDispose]());

const STATE = JSON.stringify({
  version: 4,
  serial: 1,
  lineage: 'one',
  terraform_version: '1.11.4',
  outputs: {},
  resources: [{ mode: 'managed', type: 'terraform_data', name: 'a', instances: [{}] }],
});

const made: string[] = [];
const disable = (id: string) =>
  runs.harness.call('PATCH', `/workspaces/${id}`, {
    data: { type: 'workspaces', attributes: { 'assessments-enabled': false } },
  });
afterEach(async () => {
  for (const id of made.splice(0)) await disable(id);
});

/** A workspace with a configuration and managed resources. */
const makeAssessed = async (attributes: object = { 'assessments-enabled': true }) => {
  const { harness } = runs;
  const id = await runs.makeWorkspace(attributes);
  made.push(id);
  await harness.call('POST', `/workspaces/${id}/actions/lock`);
  await harness.create(`/workspaces/${id}/state-versions`, 'state-versions', {
    serial: 1,
    lineage: 'one',
    md5: createHash('md5').update(STATE).digest('hex'),
    state: Buffer.from(STATE).toString('base64'),
  });
  await harness.call('POST', `/workspaces/${id}/actions/unlock`);
  return id;
};
const nextDay = async () => {
  runs.harness.clock.advance(DAY_MS);
  // The agents are still there.
  await runs.wait(1);
  await runs.harness.runUpkeep();
};
/** Assessment runs, newest first; lists show them only when a filter requests them. */
const assessmentsOf = async (id: string) =>
  (await runs.harness.call('GET', `/workspaces/${id}/runs?filter[operation]=assess`)).list;
const get = (target: string) => runs.harness.call('GET', target);

describe('an assessment that is asked for', () => {
  const assess = (id: string) => runs.harness.call('POST', `/workspaces/${id}/actions/assess`);
  const refusalOf = async (id: string) => {
    const { status, errors } = await assess(id);
    return [status, errors[0]?.detail.replace('Unable to start a health assessment: ', '')];
  };

  test('is queued at once, one at a time, and the next one is due a day later', async () => {
    const id = await makeAssessed();
    expect((await assess(id)).status).toBe(202);
    expect(await assessmentsOf(id)).toHaveLength(1);
    expect(await refusalOf(id)).toEqual([409, 'the assessment before has not ended']);
    const phase = await runs.claim();
    await runs.finish(phase?.id ?? '', false);
    expect((await get(`/workspaces/${id}/current-assessment-result`)).status).toBe(200);
    await runs.harness.runUpkeep();
    expect(await assessmentsOf(id)).toHaveLength(1);
  });

  test('is refused with the reason', async () => {
    const id = await makeAssessed({});
    expect(await refusalOf(id)).toEqual([409, 'assessments-enabled is false']);
    const empty = await runs.makeWorkspace({ 'assessments-enabled': true });
    made.push(empty);
    expect(await refusalOf(empty)).toEqual([409, 'the state of the workspace manages nothing']);
    const locked = await makeAssessed();
    await runs.harness.call('POST', `/workspaces/${locked}/actions/lock`);
    expect(await refusalOf(locked)).toEqual([409, 'the workspace is locked']);
  });
});

describe('a workspace whose assessments are enabled', () => {
  test('is assessed a day after its last change, and shows the result', async () => {
    const id = await makeAssessed();
    await runs.harness.runUpkeep();
    expect(await assessmentsOf(id)).toEqual([]);
    expect((await get(`/workspaces/${id}/current-assessment-result`)).status).toBe(404);
    await nextDay();
    await runs.harness.runUpkeep();
    const [assessment, ...others] = await assessmentsOf(id);
    expect(others).toEqual([]);
    expect(assessment?.attributes).toMatchObject({
      source: 'assessment',
      'plan-only': true,
      'refresh-only': true,
      'auto-apply': false,
    });

    const phase = await runs.claim();
    expect(phase?.attributes).toMatchObject({ 'is-assessment': true, 'refresh-only': true });
    const runId = phase?.id ?? '';
    for (const kind of ['json-output', 'json-schema']) {
      const url = String(phase?.attributes[`${kind}-upload-url`]);
      const stored = await runs.harness.transfer('PUT', url, Buffer.from(`{"is":"${kind}"}`));
      expect(stored.status).toBe(204);
    }
    // An assessment takes no lock and does not become the current run.
    const { attributes: during } = await runs.workspaceOf(id);
    expect(during).toMatchObject({ locked: false, 'last-assessment-result-at': null });
    expect((await get(`/workspaces/${id}/runs`)).list).toEqual([]);
    await runs.finish(runId, true);

    const { data: shown } = await get(`/workspaces/${id}?include=current_assessment_result`);
    const resultId = runId.replace('run-', 'asmtres-');
    expect(shown.relationships['current-assessment-result']).toEqual({
      data: { id: resultId, type: 'assessment-results' },
      links: { related: `/api/v2/workspaces/${id}/current-assessment-result` },
    });
    const { data, included } = {
      ...(await get(`/assessment-results/${resultId}`)),
      included: (await get(`/workspaces/${id}?include=current_assessment_result`)).included,
    };
    expect(data).toMatchObject({
      id: resultId,
      type: 'assessment-results',
      attributes: {
        drifted: true,
        succeeded: true,
        'error-msg': null,
        'created-at': shown.attributes['last-assessment-result-at'],
      },
      links: { self: `/api/v2/assessment-results/${resultId}` },
    });
    expect(included).toEqual([data]);
    expect((await get(`/workspaces/${id}/current-assessment-result`)).data).toEqual(data);
    for (const kind of ['json-output', 'json-schema']) {
      const { status, location } = await get(`/assessment-results/${resultId}/${kind}`);
      expect(status).toBe(307);
      expect((await runs.harness.transfer('GET', String(location))).text).toBe(`{"is":"${kind}"}`);
    }
    const log = await get(`/assessment-results/${resultId}/log-output`);
    expect((await runs.harness.transfer('GET', String(log.location))).status).toBe(200);
    // Assessments do not count as runs in the metrics of the workspace.
    expect(shown.attributes['workspace-kpis-runs-count']).toBe(0);
    expect(shown.relationships['current-run']?.data).toBeNull();
  });

  test('is assessed again a day later, and shows a failed assessment as such', async () => {
    const id = await makeAssessed();
    await nextDay();
    // An assessment that is not finished delays the next one.
    await nextDay();
    expect(await assessmentsOf(id)).toHaveLength(1);
    const first = (await runs.claim())?.id ?? '';
    await runs.report(first, { status: 'errored' });
    expect(
      (await get(`/workspaces/${id}/current-assessment-result`)).data.attributes,
    ).toMatchObject({
      drifted: false,
      succeeded: false,
      'error-msg': expect.any(String) as string,
    });
    await nextDay();
    expect(await assessmentsOf(id)).toHaveLength(2);
    const second = (await runs.claim())?.id ?? '';
    await runs.finish(second, false);
    const current = await get(`/workspaces/${id}/current-assessment-result`);
    expect(current.data.id).toBe(second.replace('run-', 'asmtres-'));
    expect(current.data.attributes).toMatchObject({ drifted: false, succeeded: true });
  });

  test('keeps the previous result when an assessment is stopped', async () => {
    const id = await makeAssessed();
    await nextDay();
    const runId = (await assessmentsOf(id))[0]?.id ?? '';
    expect(await runs.act(runId, 'cancel')).toBe(202);
    expect((await get(`/workspaces/${id}/current-assessment-result`)).status).toBe(404);
    const resultId = runId.replace('run-', 'asmtres-');
    expect((await get(`/assessment-results/${resultId}`)).status).toBe(404);
  });

  test('keeps the files of the last assessment, and its runs displace no other runs', async () => {
    const id = await makeAssessed();
    await runs.harness.call('POST', `/workspaces/${id}/relationships/data-retention-policy`, {
      data: {
        type: 'data-retention-policy-delete-olders',
        attributes: { deleteRunDataAndLogs: true, runDataKeepLatestCount: 1 },
      },
    });
    const endNext = async () => {
      const phase = await runs.claim();
      const url = String(phase?.attributes['json-output-upload-url']);
      await runs.harness.transfer('PUT', url, Buffer.from('{}'));
      await runs.finish(phase?.id ?? '', false);
      return phase?.id ?? '';
    };
    await runs.queue(id, { 'plan-only': true });
    const asked = await endNext();
    const assessed: string[] = [];
    for (let day = 0; day < 2; day += 1) {
      await nextDay();
      assessed.push(await endNext());
    }
    await disable(id);
    for (let day = 0; day < 8; day += 1) await nextDay();
    const left = [asked, ...assessed].map(
      async (runId) => (await get(`/runs/${runId}/plan/json-output`)).status,
    );
    expect(await Promise.all(left)).toEqual([307, 204, 307]);
  });

  test('needs the first release with this feature, or a later one', async () => {
    const first = { 'assessments-enabled': true, 'runtime-version': '0.15.4' };
    const id = await makeAssessed(first);
    await nextDay();
    const [assessment] = await assessmentsOf(id);
    expect(await runs.act(assessment?.id ?? '', 'cancel')).toBe(202);
  });

  test('waits while it is locked or a run is at work', async () => {
    const locked = await makeAssessed();
    const busy = await makeAssessed();
    await runs.harness.call('POST', `/workspaces/${locked}/actions/lock`);
    await runs.queue(busy);
    await nextDay();
    expect(await assessmentsOf(locked)).toEqual([]);
    expect(await assessmentsOf(busy)).toEqual([]);
  });
});

describe('no assessment', () => {
  test.for([
    ['are not asked for', false, {}],
    ['need another release', true, { 'runtime-version': '0.15.3' }],
    ['only keep states', true, { 'execution-mode': 'local', 'agent-pool-id': null }],
  ] as const)('takes place where workspaces %s', async ([, isEnforced, attributes]) => {
    const enforce = (enforced: boolean) =>
      runs.harness.call('PATCH', O, {
        data: { type: 'organizations', attributes: { 'assessments-enforced': enforced } },
      });
    const id = await makeAssessed(attributes);
    await enforce(isEnforced);
    await nextDay();
    expect(await assessmentsOf(id)).toEqual([]);
    await enforce(false);
  });

  test('takes place after they were disabled again, or where nothing is managed', async () => {
    const off = await makeAssessed();
    await disable(off);
    const empty = await runs.makeWorkspace({ 'assessments-enabled': true });
    await nextDay();
    expect(await assessmentsOf(off)).toEqual([]);
    expect(await assessmentsOf(empty)).toEqual([]);
  });
});

test('an organization that enforces assessments has all of its workspaces assessed', async () => {
  // More than one query reads, with names that sort before the others.
  for (let at = 0; at < 500; at += 1) {
    await runs.harness.create(`${O}/workspaces`, 'workspaces', { name: `a-${at}` });
  }
  const ids = [await makeAssessed({}), await makeAssessed({})];
  const enforce = (enforced: boolean) =>
    runs.harness.call('PATCH', O, {
      data: { type: 'organizations', attributes: { 'assessments-enforced': enforced } },
    });
  await enforce(true);
  await nextDay();
  for (const id of ids) {
    expect(await assessmentsOf(id)).toHaveLength(1);
    expect((await runs.workspaceOf(id)).attributes['assessments-enabled']).toBe(true);
  }
  await enforce(false);
});
