/** The log and files of a phase, withheld, restored and deleted by an administrator of the workspace. */
import { afterAll, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';

const DAY_MS = 86_400_000;
const { harness, makeWorkspace, queue, claim, asRun, finish, report, act } =
  await startRunHarness();
afterAll(() => harness[Symbol.asyncDispose]());

const idOf = (runId: string, phase: 'plan' | 'apply') => runId.replace('run-', `${phase}-`);
const PATHS = { plan: 'plans', apply: 'applies' } as const;
/** Claims the next phase, and uploads a log and the given files. */
const work = async (runId: string, kinds: readonly string[]) => {
  const phase = await claim();
  expect(phase?.id).toBe(runId);
  await asRun(runId, 'POST', `/agent-runs/${runId}/logs`, {
    data: { type: 'logs', attributes: { text: String(phase?.attributes['phase']) } },
  });
  for (const kind of kinds) {
    const address = String(phase?.attributes[`${kind}-upload-url`]);
    expect((await harness.transfer('PUT', address, Buffer.from('{}'))).status).toBe(204);
  }
};
/** A run that is applied, or fails in its apply, followed by another one that is then the current run. */
const apply = async (end: 'finished' | 'errored' = 'finished') => {
  const workspaceId = await makeWorkspace();
  const runId = await queue(workspaceId);
  await work(runId, ['json-output', 'json-output-redacted']);
  await finish(runId);
  await act(runId, 'apply');
  await work(runId, end === 'errored' ? ['errored-state'] : []);
  await report(runId, { status: end });
  const next = await queue(workspaceId);
  await work(next, ['json-output']);
  await finish(next, false);
  return { workspaceId, runId, next };
};
const change = async (runId: string, phase: 'plan' | 'apply', action: string) => {
  const path = `/${PATHS[phase]}/${idOf(runId, phase)}/actions/${action}_backing_data`;
  return (await harness.call('POST', path)).status;
};
const logOf = async (runId: string, phase: 'plan' | 'apply') => {
  const { data } = await harness.call('GET', `/${PATHS[phase]}/${idOf(runId, phase)}`);
  return (await harness.transfer('GET', String(data.attributes['log-read-url']))).text;
};
const outputOf = async (runId: string) => {
  const { status, location } = await harness.call(
    'GET',
    `/plans/${idOf(runId, 'plan')}/json-output`,
  );
  return { status, location: String(location) };
};
/** Complete and empty, so that clients stop reading. */
const EMPTY = '\u0002\u0003';

test('the files of a plan can be withheld, restored, and, once withheld, deleted', async () => {
  const { runId } = await apply();
  const before = await outputOf(runId);
  expect(before.status).toBe(307);
  expect(await change(runId, 'plan', 'restore')).toBe(400);
  expect(await change(runId, 'plan', 'permanently_delete')).toBe(400);
  expect(await change(runId, 'plan', 'soft_delete')).toBe(204);
  expect(await change(runId, 'plan', 'soft_delete')).toBe(400);
  expect(await logOf(runId, 'plan')).toBe(EMPTY);
  expect((await outputOf(runId)).status).toBe(204);
  // Not through a URL that was issued before either.
  expect((await harness.transfer('GET', before.location)).status).toBe(404);
  expect(await logOf(runId, 'apply')).toBe('\u0002apply\u0003');
  expect(await change(runId, 'plan', 'restore')).toBe(204);
  expect(await logOf(runId, 'plan')).toBe('\u0002plan\u0003');
  expect((await outputOf(runId)).status).toBe(307);
  expect(await change(runId, 'plan', 'soft_delete')).toBe(204);
  expect(await change(runId, 'plan', 'permanently_delete')).toBe(204);
  for (const action of ['restore', 'soft_delete', 'permanently_delete']) {
    expect([action, await change(runId, 'plan', action)]).toEqual([action, 400]);
  }
  expect(await logOf(runId, 'plan')).toBe(EMPTY);
  expect((await outputOf(runId)).status).toBe(204);
});

test('a state that an apply could not store is kept', async () => {
  const { runId } = await apply('errored');
  const left = async () => {
    const path = `/applies/${idOf(runId, 'apply')}/errored-state`;
    return (await harness.call('GET', path)).status;
  };
  for (const action of ['soft_delete', 'permanently_delete']) {
    expect(await change(runId, 'apply', action)).toBe(204);
    expect(await logOf(runId, 'apply')).toBe(EMPTY);
    expect(await left()).toBe(307);
  }
});

test('the current run, an unfinished run and a run without files are left unchanged', async () => {
  const { workspaceId, next } = await apply();
  expect(await change(next, 'plan', 'soft_delete')).toBe(400);
  const open = await queue(workspaceId, { 'plan-only': true });
  await work(open, []);
  expect(await change(open, 'plan', 'soft_delete')).toBe(400);
  await finish(open, false);
  expect(await change(open, 'plan', 'soft_delete')).toBe(204);
  expect(await change(open, 'apply', 'soft_delete')).toBe(400);
  const canceled = await queue(workspaceId, { 'plan-only': true });
  await act(canceled, 'cancel');
  expect(await change(canceled, 'plan', 'soft_delete')).toBe(400);
});

test('the id of a plan is not accepted for an apply, nor that of an apply for a plan', async () => {
  const { runId } = await apply();
  const path = (phase: string, id: string) => `/${phase}/${id}/actions/soft_delete_backing_data`;
  for (const target of [
    path('plans', idOf(runId, 'apply')),
    path('applies', idOf(runId, 'plan')),
    path('plans', runId),
  ]) {
    expect([target, (await harness.call('POST', target)).status]).toEqual([target, 404]);
  }
});

test('a policy also withholds the apply of a run whose plan was deleted earlier', async () => {
  const { workspaceId, runId } = await apply();
  for (const action of ['soft_delete', 'permanently_delete']) await change(runId, 'plan', action);
  await harness.call('POST', `/workspaces/${workspaceId}/relationships/data-retention-policy`, {
    data: {
      type: 'data-retention-policy-delete-olders',
      attributes: { deleteRunDataAndLogs: true, runDataAndLogsDeleteAfterNDays: 1 },
    },
  });
  for (const days of [1, 7]) {
    harness.clock.advance(days * DAY_MS);
    await harness.runUpkeep();
  }
  expect(await logOf(runId, 'apply')).toBe(EMPTY);
});
