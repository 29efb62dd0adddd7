import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';

const O = '/organizations/acme';
const ARCHIVE = gzipSync('files');
const {
  harness,
  uploadTo,
  makeWorkspace,
  tryQueue,
  queue,
  claim,
  asRun,
  report,
  finish,
  act,
  statusOf,
  workspaceOf,
  wait,
  poolId,
} = await startRunHarness();
afterAll(() => harness[Symbol.asyncDispose]());

describe('a configuration version', () => {
  test('is uploaded to the address shown once', async () => {
    const workspaceId = await makeWorkspace();
    const { id, url } = await uploadTo(workspaceId);
    expect((await harness.transfer('PUT', url, ARCHIVE)).status).toBe(204);
    const shown = await harness.call('GET', `/configuration-versions/${id}`);
    expect(shown.data.attributes).toMatchObject({ status: 'uploaded', 'upload-url': null });
    const { relationships } = await workspaceOf(workspaceId);
    expect(relationships['current-configuration-version']?.data).toMatchObject({ id });
  });

  test('must be a gzip file', async () => {
    const workspaceId = await makeWorkspace();
    const announced = await harness.create(
      `/workspaces/${workspaceId}/configuration-versions`,
      'configuration-versions',
      { 'auto-queue-runs': false },
    );
    const url = String(announced.attributes['upload-url']);
    expect((await harness.transfer('PUT', url, Buffer.from('plain'))).status).toBe(400);
    expect((await harness.transfer('PUT', url, ARCHIVE)).status).toBe(204);
  });

  test('queues a run when it is uploaded, unless told not to', async () => {
    const workspaceId = await makeWorkspace();
    await uploadTo(workspaceId, { 'auto-queue-runs': true });
    const { list } = await harness.call('GET', `/workspaces/${workspaceId}/runs`);
    expect(list.map(({ attributes }) => attributes['source'])).toEqual([
      'tfe-configuration-version',
    ]);
    await act(list[0]?.id ?? '', 'discard');
  });

  test('queues nothing in a workspace with execution mode local', async () => {
    const workspaceId = await makeWorkspace({ 'execution-mode': 'local', 'agent-pool-id': '' });
    await uploadTo(workspaceId, { 'auto-queue-runs': true });
    const { list } = await harness.call('GET', `/workspaces/${workspaceId}/runs`);
    expect(list).toEqual([]);
  });

  test('that no run needs is archived', async () => {
    const workspaceId = await makeWorkspace();
    const older = await uploadTo(workspaceId);
    const waiting = await queue(workspaceId);
    const newer = await uploadTo(workspaceId);
    const archive = async (id: string) => {
      const path = `/configuration-versions/${id}/actions/archive`;
      const { status, errors } = await harness.call('POST', path);
      return [status, errors[0]?.detail];
    };
    const refusal = 'transition not allowed: configuration could not be archived because';
    expect(await archive(newer.id)).toEqual([409, `${refusal} it is current`]);
    expect(await archive(older.id)).toEqual([409, `${refusal} ${waiting} has not ended`]);
    await act(waiting, 'discard');
    expect(await archive(older.id)).toEqual([202, undefined]);
    expect(await archive(older.id)).toEqual([409, `${refusal} it is archived`]);
  });
});

describe('a run', () => {
  test('is planned, confirmed and applied, and holds the lock meanwhile', async () => {
    const workspaceId = await makeWorkspace();
    await harness.create(`/workspaces/${workspaceId}/vars`, 'vars', {
      key: 'secret',
      value: 'hunter2',
      category: 'terraform',
      sensitive: true,
    });
    const runId = await queue(workspaceId, { message: 'first' });
    const claimed = await claim();
    expect(claimed?.id).toBe(runId);
    expect(claimed?.attributes['variables']).toMatchObject([{ key: 'secret', value: 'hunter2' }]);
    const files = String(claimed?.attributes['configuration-download-url']);
    expect((await harness.transfer('GET', files)).status).toBe(200);
    const held = await workspaceOf(workspaceId);
    expect(held.attributes).toMatchObject({ locked: true, 'locked-reason': 'first' });
    expect(held.relationships['locked-by']?.data).toEqual({ id: runId, type: 'runs' });
    const refused = await harness.call('POST', `/workspaces/${workspaceId}/actions/lock`);
    expect(refused.errors[0]?.detail).toContain(`locked by Run ${runId}`);
    expect(await act(runId, 'apply')).toBe(409);
    harness.clock.advance(2000);
    expect(await finish(runId)).toBe(204);
    expect(await statusOf(runId)).toBe('planned');
    expect(await claim()).toBeUndefined();
    expect(await act(runId, 'apply')).toBe(202);
    expect((await claim())?.id).toBe(runId);
    harness.clock.advance(4000);
    expect(await finish(runId)).toBe(204);
    const done = await workspaceOf(workspaceId);
    expect(done.attributes).toMatchObject({
      locked: false,
      'plan-duration-average': 2000,
      'apply-duration-average': 4000,
      'run-failures': 0,
      'workspace-kpis-runs-count': 1,
    });
    expect(done.relationships['current-run']?.data).toEqual({ id: runId, type: 'runs' });
    // The deprecated name of the same attribute.
    expect(done.relationships['latest-run']).toEqual(done.relationships['current-run']);
    const plan = await harness.call('GET', `/plans/${runId.replace('run-', 'plan-')}`);
    expect(plan.data.attributes).toMatchObject({ status: 'finished', 'resource-additions': 2 });
  });

  test('shows the progress of its phases', async () => {
    const workspaceId = await makeWorkspace();
    const phasesOf = async (runId: string) => {
      const { included } = await harness.call('GET', `/runs/${runId}?include=plan,apply`);
      return included.map(({ attributes }) => attributes['status']);
    };
    const runId = await queue(workspaceId);
    const seen = [await phasesOf(runId)];
    for (const step of [claim, () => finish(runId), () => act(runId, 'apply'), claim]) {
      await step();
      seen.push(await phasesOf(runId));
    }
    expect(seen).toEqual([
      ['pending', 'pending'],
      ['running', 'pending'],
      ['finished', 'pending'],
      ['finished', 'queued'],
      ['finished', 'running'],
    ]);
    await finish(runId);
    const dropped = await queue(workspaceId);
    await claim();
    await finish(dropped);
    await act(dropped, 'discard');
    expect(await phasesOf(dropped)).toEqual(['finished', 'unreachable']);
    const only = await queue(workspaceId, { 'plan-only': true });
    expect(await phasesOf(only)).toEqual(['pending']);
    const { relationships } = (await harness.call('GET', `/runs/${only}`)).data;
    expect(relationships['apply']?.data).toBeNull();
    await act(only, 'discard');
  });

  test('waits for the previous run', async () => {
    const workspaceId = await makeWorkspace();
    const [first, second] = [await queue(workspaceId), await queue(workspaceId)];
    expect((await claim())?.id).toBe(first);
    expect(await claim()).toBeUndefined();
    expect(await act(second, 'force-execute')).toBe(409);
    await finish(first);
    expect(await claim()).toBeUndefined();
    expect(await act(first, 'force-execute')).toBe(409);
    expect(await act(second, 'force-execute')).toBe(202);
    expect(await statusOf(first)).toBe('discarded');
    expect((await claim())?.id).toBe(second);
    await report(second, { status: 'errored' });
    const { attributes } = await workspaceOf(workspaceId);
    expect(attributes).toMatchObject({ 'run-failures': 1, 'workspace-kpis-run-count': 1 });
  });

  test.for([
    [
      'the workspace itself',
      (workspaceId: string) =>
        harness.call('PATCH', `/workspaces/${workspaceId}`, {
          data: { type: 'workspaces', attributes: { 'execution-mode': 'local' } },
        }),
    ],
    [
      'its project',
      async (workspaceId: string) => {
        const project = await harness.create(`${O}/projects`, 'projects', {
          name: 'Local',
          'default-execution-mode': 'local',
        });
        const inherit = { 'setting-overwrites': { 'execution-mode': false } };
        const relationships = { project: { data: { type: 'projects', id: project.id } } };
        return harness.call('PATCH', `/workspaces/${workspaceId}`, {
          data: { type: 'workspaces', attributes: inherit, relationships },
        });
      },
    ],
  ] as const)(
    'that waits is errored once %s cannot execute it, with the reason',
    async ([, close]) => {
      const workspaceId = await makeWorkspace();
      const confirmed = await queue(workspaceId);
      await claim();
      const pending = await queue(workspaceId);
      const planOnly = await queue(workspaceId, { 'plan-only': true });
      expect((await claim())?.id).toBe(planOnly);
      await finish(confirmed);
      await act(confirmed, 'apply');
      await harness.runUpkeep();
      expect(await Promise.all([confirmed, pending].map(statusOf))).toEqual([
        'confirmed',
        'pending',
      ]);
      expect((await close(workspaceId)).status).toBe(200);
      await harness.runUpkeep();
      expect((await workspaceOf(workspaceId)).attributes['locked']).toBe(false);
      for (const phaseId of [
        confirmed.replace('run-', 'applies/apply-'),
        pending.replace('run-', 'plans/plan-'),
      ]) {
        const { attributes } = (await harness.call('GET', `/${phaseId}`)).data;
        expect(attributes['status']).toBe('errored');
        const log = await harness.transfer('GET', String(attributes['log-read-url']));
        expect(log.text).toContain('execution mode local');
      }
      // A run that an agent has claimed stays with the agent.
      expect(await statusOf(planOnly)).toBe('planning');
      expect(await finish(planOnly)).toBe(204);
    },
  );

  test('is executed even behind many runs that cannot begin', async () => {
    const locked = await makeWorkspace();
    await harness.call('POST', `/workspaces/${locked}/actions/lock`);
    // As many as one query reads.
    for (let waiting = 0; waiting < 200; waiting += 1) await queue(locked);
    const runId = await queue(await makeWorkspace());
    expect((await claim())?.id).toBe(runId);
    expect(await claim()).toBeUndefined();
    await report(runId, { status: 'errored' });
    await harness.call('DELETE', `/workspaces/${locked}`);
  });

  test('that plans only, or finds nothing, ends with its plan', async () => {
    const workspaceId = await makeWorkspace();
    await harness.call('POST', `/workspaces/${workspaceId}/actions/lock`);
    const runId = await queue(workspaceId, { 'plan-only': true });
    expect((await claim())?.id).toBe(runId);
    await finish(runId);
    expect(await statusOf(runId)).toBe('planned_and_finished');
    await harness.call('POST', `/workspaces/${workspaceId}/actions/unlock`);
    const empty = await queue(workspaceId);
    await claim();
    await finish(empty, false);
    expect(await statusOf(empty)).toBe('planned_and_finished');
    const listed = await harness.call('GET', `/workspaces/${workspaceId}/runs`);
    expect(listed.list.map(({ id }) => id)).toEqual([empty]);
    const query = '?filter[operation]=plan_only,plan_and_apply&filter[status_group]=final';
    const all = await harness.call('GET', `${O}/runs${query}`);
    expect(all.list.map(({ id }) => id)).toEqual(expect.arrayContaining([empty, runId]));
  });

  test('is canceled by its agent, or abandoned after a minute', async () => {
    const workspaceId = await makeWorkspace();
    const [asked, silent] = [await queue(workspaceId), await queue(workspaceId)];
    await claim();
    expect(await report(asked, { status: 'canceled' })).toBe(409);
    expect(await act(asked, 'cancel')).toBe(202);
    const seen = await asRun(asked, 'GET', `/agent-runs/${asked}`);
    expect(seen.data.attributes['cancel-requested-at']).not.toBeNull();
    expect((await harness.call('GET', `/runs/${asked}`)).data.attributes['actions']).toEqual({
      'is-cancelable': false,
      'is-confirmable': false,
      'is-discardable': false,
      'is-force-cancelable': true,
    });
    expect(await report(asked, { status: 'canceled' })).toBe(204);
    expect((await claim())?.id).toBe(silent);
    expect(await act(silent, 'force-cancel')).toBe(409);
    await act(silent, 'cancel');
    expect(await act(silent, 'force-cancel')).toBe(409);
    await wait(60_000);
    expect(await act(silent, 'force-cancel')).toBe(202);
    expect(await statusOf(silent)).toBe('force_canceled');
    expect((await workspaceOf(workspaceId)).attributes['locked']).toBe(false);
  });

  test('whose plan was done before its agent heard of the cancel is canceled, not applied', async () => {
    const workspaceId = await makeWorkspace({ 'auto-apply': true });
    const runId = await queue(workspaceId);
    await claim();
    expect(await act(runId, 'cancel')).toBe(202);
    expect(await finish(runId)).toBe(204);
    expect(await statusOf(runId)).toBe('canceled');
    const { included } = await harness.call('GET', `/runs/${runId}?include=plan`);
    expect(included[0]?.attributes['status']).toBe('canceled');
    expect((await workspaceOf(workspaceId)).attributes['locked']).toBe(false);
  });

  test('is applied without confirmation if configured', async () => {
    const workspaceId = await makeWorkspace({ 'auto-apply': true });
    const runId = await queue(workspaceId);
    await claim();
    await finish(runId);
    expect(await statusOf(runId)).toBe('confirmed');
    expect((await claim())?.id).toBe(runId);
    await finish(runId);
    expect(await statusOf(runId)).toBe('applied');
  });

  test('writes a log that can be read in pieces', async () => {
    const workspaceId = await makeWorkspace();
    const runId = await queue(workspaceId);
    await claim();
    const write = (text: string) =>
      asRun(runId, 'POST', `/agent-runs/${runId}/logs`, {
        data: { type: 'logs', attributes: { text } },
      });
    await write('Plan: ');
    await write('2 to add\n');
    const plan = await harness.call('GET', `/plans/${runId.replace('run-', 'plan-')}`);
    const url = String(plan.data.attributes['log-read-url']);
    expect((await harness.transfer('GET', url)).text).toBe('\u0002Plan: 2 to add\n');
    await finish(runId);
    expect((await harness.transfer('GET', `${url}?offset=7&limit=100`)).text).toBe(
      '2 to add\n\u0003',
    );
    expect((await write('late')).status).toBe(401);
    await act(runId, 'discard');
  });

  test('writes a log that can be split at any byte, and whose end every reader learns', async () => {
    const runId = await queue(await makeWorkspace(), { 'plan-only': true });
    await claim();
    for (const text of ['é1', '€', '2ü', '𝄞']) {
      await asRun(runId, 'POST', `/agent-runs/${runId}/logs`, {
        data: { type: 'logs', attributes: { text } },
      });
    }
    const plan = await harness.call('GET', `/plans/${runId.replace('run-', 'plan-')}`);
    const url = String(plan.data.attributes['log-read-url']);
    const read = async (offset: number, limit: number) =>
      (await harness.transfer('GET', `${url}?offset=${offset}&limit=${limit}`)).bytes;
    const text = Buffer.from('\u0002é1€2ü𝄞');
    expect(await read(text.length, 100)).toEqual(Buffer.alloc(0));
    await finish(runId);
    const whole = Buffer.concat([text, Buffer.of(3)]);
    for (let at = 0; at <= whole.length; at += 1) {
      expect(await read(0, at)).toEqual(whole.subarray(0, at));
      expect(await read(at, 2)).toEqual(whole.subarray(at, at + 2));
      expect(await read(at, 100)).toEqual(whole.subarray(at));
    }
  });

  test('shows what its phases change, each kind by itself', async () => {
    const runId = await queue(await makeWorkspace());
    const countsOf = (first: number) => ({
      'resource-additions': first,
      'resource-changes': first + 1,
      'resource-destructions': first + 2,
      'resource-imports': first + 3,
    });
    for (const first of [1, 5]) {
      await claim();
      await report(runId, { status: 'finished', 'has-changes': true, ...countsOf(first) });
      await act(runId, 'apply');
    }
    const { included } = await harness.call('GET', `/runs/${runId}?include=plan,apply`);
    expect(included.map(({ attributes }) => attributes)).toMatchObject([countsOf(1), countsOf(5)]);
  });

  test.for([
    [{ 'is-destroy': true, 'refresh-only': true }, '/data/attributes/refresh-only'],
    [{ refresh: false, 'refresh-only': true }, '/data/attributes/refresh'],
    [{ 'plan-only': true, 'save-plan': true }, '/data/attributes/save-plan'],
    [{ 'plan-only': true, 'auto-apply': true }, '/data/attributes/auto-apply'],
    [{ 'terraform-version': '1.5.7' }, '/data/attributes/terraform-version'],
    [{ 'runtime-version': '1.5.7' }, '/data/attributes/runtime-version'],
    [{ 'plan-only': true, 'terraform-version': 'soon' }, '/data/attributes/terraform-version'],
    [{ 'plan-only': true, 'runtime-version': '> 2.0' }, '/data/attributes/runtime-version'],
    [{ 'is-destroy': true }, '/data/attributes/is-destroy'],
  ] as const)('is refused with %j', async ([attributes, pointer]) => {
    const workspaceId = await makeWorkspace({ 'allow-destroy-plan': false });
    const { status, errors } = await tryQueue(workspaceId, attributes);
    expect(status).toBe(422);
    expect(errors[0]?.source?.pointer).toBe(pointer);
  });

  test.for([null, { data: null }])('takes %j for the current configuration', async (version) => {
    const workspaceId = await makeWorkspace();
    const relationships = {
      workspace: { data: { type: 'workspaces', id: workspaceId } },
      'configuration-version': version,
    };
    const { status, data } = await harness.call('POST', '/runs', {
      data: { type: 'runs', attributes: {}, relationships },
    });
    expect(status).toBe(201);
    await act(data.id, 'discard');
  });

  test('takes no configuration of another workspace, nor one whose files are still to come', async () => {
    const workspaceId = await makeWorkspace();
    const elsewhere = await uploadTo(await makeWorkspace());
    const pending = await harness.create(
      `/workspaces/${workspaceId}/configuration-versions`,
      'configuration-versions',
      {},
    );
    for (const { id } of [elsewhere, pending]) {
      const relationships = {
        workspace: { data: { type: 'workspaces', id: workspaceId } },
        'configuration-version': { data: { type: 'configuration-versions', id } },
      };
      const { status, errors } = await harness.call('POST', '/runs', {
        data: { type: 'runs', attributes: {}, relationships },
      });
      expect([status, errors[0]?.source?.pointer]).toEqual([
        422,
        '/data/relationships/configuration-version/data/id',
      ]);
    }
  });

  test('needs a configuration, and a workspace that executes remotely', async () => {
    const { id } = await harness.create(`${O}/workspaces`, 'workspaces', { name: 'bare' });
    expect((await tryQueue(id)).errors[0]?.source?.pointer).toBe(
      '/data/relationships/configuration-version/data/id',
    );
    const local = await makeWorkspace({ 'execution-mode': 'local', 'agent-pool-id': '' });
    expect((await tryQueue(local)).errors[0]?.source?.pointer).toBe(
      '/data/relationships/workspace/data/id',
    );
  });

  test('is deleted with its workspace', async () => {
    const workspaceId = await makeWorkspace();
    const runId = await queue(workspaceId);
    expect((await harness.call('DELETE', `/workspaces/${workspaceId}`)).status).toBe(204);
    expect((await harness.call('GET', `/runs/${runId}`)).status).toBe(404);
    expect(await claim()).toBeUndefined();
  });
});

describe('workspaces', () => {
  test('are filtered and sorted by their current run', async () => {
    const workspaceId = await makeWorkspace();
    // Later than the current run of every other workspace.
    harness.clock.advance(1);
    const runId = await queue(workspaceId);
    for (const statuses of ['pending', 'planning,pending']) {
      const filter = `filter[current-run][status]=${statuses}`;
      const found = await harness.call('GET', `${O}/workspaces?${filter}`);
      expect(found.list.map(({ id }) => id)).toEqual([workspaceId]);
    }
    const { id: unused } = await harness.create(`${O}/workspaces`, 'workspaces', { name: 'idle' });
    const sorted = async (sort: string) =>
      (await harness.call('GET', `${O}/workspaces?page[size]=100&sort=${sort}`)).list;
    const ascending = await sorted('current-run.created-at');
    // Workspaces without a run come after all that have one.
    const withRun = ascending.filter(({ relationships }) => relationships['current-run']?.data);
    expect(withRun.at(-1)?.id).toBe(workspaceId);
    expect(ascending.slice(0, withRun.length)).toEqual(withRun);
    expect(ascending.at(-1)?.id).toBe(unused);
    // Also where the newest run comes first: a page of workspaces that never ran shows none.
    const newest = await sorted('-current-run.created-at');
    expect(newest[0]?.id).toBe(workspaceId);
    expect(newest.slice(withRun.length)).toEqual(ascending.slice(withRun.length));
    expect(
      newest
        .slice(0, withRun.length)
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(withRun.map(({ id }) => id).toSorted());
    const included = await harness.call('GET', `/runs/${runId}?include=plan,workspace`);
    expect(included.included.map(({ type }) => type)).toEqual(['plans', 'workspaces']);
    const around = await harness.call(
      'GET',
      `/workspaces/${workspaceId}?include=current_run,current-configuration-version`,
    );
    expect(around.included.map(({ type }) => type)).toEqual(['runs', 'configuration-versions']);
    await act(runId, 'discard');
  });

  test('include the phases of their current run and their pool, but not for runs', async () => {
    const workspaceId = await makeWorkspace();
    const runId = await queue(workspaceId);
    expect((await claim())?.id).toBe(runId);
    const target = `/workspaces/${workspaceId}?include=current_run.plan,current-run.apply,agent_pool`;
    const { included } = await harness.call('GET', target);
    expect(included.map(({ id }) => id)).toEqual([
      runId,
      runId.replace('run-', 'plan-'),
      runId.replace('run-', 'apply-'),
      poolId,
    ]);
    expect(included[1]?.attributes['log-read-url']).toContain('/downloads/logs/plan-');
    const listed = await harness.call(
      'GET',
      `${O}/workspaces?page[size]=100&include=latest_run.plan`,
    );
    expect(listed.included.map(({ id }) => id)).toContain(runId.replace('run-', 'plan-'));
    const everything = `${target},current_run,latest_run,current_configuration_version,current_run.configuration_version`;
    expect((await asRun(runId, 'GET', everything)).included).toEqual([]);
    await report(runId, { status: 'errored' });
  });
});
