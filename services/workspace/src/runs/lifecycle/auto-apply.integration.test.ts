/**
 * Whether a run is applied without a confirmation is decided when its plan has ended:
 *
 * | run | is applied automatically while |
 * | --- | --- |
 * | requested with `auto-apply`, or of an uploaded configuration | its requester, with the same token, may apply |
 * | of a run trigger | `auto-apply-run-trigger` is true |
 * | of a repository | `auto-apply` is true |
 * | of auto-destroy | the time has come and destroy plans are allowed |
 *
 * Otherwise it waits for a confirmation, and its event says why. Repositories are covered by
 * `pushes.integration.test.ts`.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { archiveOf } from '../../../test/configuration-archive.ts';
import { ENDS, narrow, teamWith } from '../../../test/ended-rights.ts';
import { startRunHarness } from '../../../test/run-harness.ts';
import { md5, stateText } from '../../../test/state-uploads.ts';
import type { Harness } from '../../../test/workspace-harness.ts';

const DAY_MS = 86_400_000;
let runs: Awaited<ReturnType<typeof startRunHarness>>;
let harness: Harness;
beforeAll(async () => {
  runs = await startRunHarness();
  ({ harness } = runs);
});
afterAll(() => harness[Symbol.asyncDispose]());
/** A waiting run that one test leaves would be claimed in the next. */
afterEach(async () => {
  const { list } = await harness.call('GET', '/organizations/acme/runs?page[size]=100');
  for (const { id, attributes } of list) {
    const waits =
      attributes['status'] === 'planned' || attributes['status'] === 'planned_and_saved';
    await runs.act(id, waits ? 'discard' : 'cancel');
  }
});

const runsOf = async (workspaceId: string) =>
  (await harness.call('GET', `/workspaces/${workspaceId}/runs`)).list;
const patchWorkspace = (id: string, attributes: object) =>
  harness.call('PATCH', `/workspaces/${id}`, { data: { type: 'workspaces', attributes } });
const describedEvents = async (runId: string) =>
  (await harness.call('GET', `/runs/${runId}/run-events`)).list
    .map(({ attributes }) => [attributes['action'], attributes['description']])
    .filter(([, description]) => description !== null);

/** Has the agents plan a run, during which something happens. */
const plan = async (runId: string, meanwhile: () => Promise<unknown>) => {
  expect((await runs.claim())?.id).toBe(runId);
  await meanwhile();
  expect(await runs.finish(runId)).toBe(204);
};
const outcomeOf = async (runId: string) => {
  const { attributes } = (await harness.call('GET', `/runs/${runId}`)).data;
  return {
    status: attributes['status'],
    isAutomatic: attributes['auto-apply'],
    described: await describedEvents(runId),
  };
};
const waiting = (reason: string) => ({
  status: 'planned',
  isAutomatic: false,
  described: [['planned', reason]],
});
const APPLIED = { status: 'confirmed', isAutomatic: true, described: [] };
const LOST =
  'waits for a confirmation: the requester of the run, or the token it was requested with, may no longer apply';

describe('a run with auto-apply', () => {
  const requested = async () => {
    const workspaceId = await runs.makeWorkspace();
    const team = await teamWith(harness, workspaceId, { access: 'write' });
    const { data } = await runs.tryQueue(workspaceId, { 'auto-apply': true }, team.tokens.member);
    expect(data.attributes['auto-apply']).toBe(true);
    return { workspaceId, team, runId: data.id };
  };

  test.for(Object.entries(ENDS))('waits if %s during its plan', async ([, end]) => {
    const { runId, team } = await requested();
    await plan(runId, () => end(harness, team));
    expect(await outcomeOf(runId)).toEqual(waiting(LOST));
    // Whoever may apply can confirm it.
    expect(await runs.act(runId, 'apply')).toBe(202);
    expect(await runs.statusOf(runId)).toBe('confirmed');
  });

  test('waits if its requester leaves the organization during its plan', async () => {
    const { runId, team } = await requested();
    const { list } = await harness.call('GET', '/organizations/acme/organization-memberships');
    const membership = list.find(
      ({ relationships }) =>
        (relationships['user']?.data as { id: string } | undefined)?.id === team.memberId,
    );
    await plan(runId, () => harness.call('DELETE', `/organization-memberships/${membership?.id}`));
    expect(await outcomeOf(runId)).toEqual(waiting(LOST));
  });

  test('waits if the token of its team is deleted during its plan', async () => {
    const workspaceId = await runs.makeWorkspace();
    const { teamId, tokens } = await teamWith(harness, workspaceId, { access: 'write' });
    const { data } = await runs.tryQueue(workspaceId, { 'auto-apply': true }, tokens.team);
    await plan(data.id, () => harness.call('DELETE', `/teams/${teamId}/authentication-token`));
    expect(await outcomeOf(data.id)).toEqual(waiting(LOST));
  });

  test('is applied if the requester may still apply', async () => {
    const { runId, team } = await requested();
    await plan(runId, () => narrow(harness, team, 'admin'));
    expect(await outcomeOf(runId)).toEqual(APPLIED);
  });

  test('that saves its plan, or only plans, is not concerned', async () => {
    const workspaceId = await runs.makeWorkspace();
    const team = await teamWith(harness, workspaceId, { access: 'write' });
    const queue = async (attributes: object) =>
      (await runs.tryQueue(workspaceId, attributes, team.tokens.member)).data.id;
    const [saved, only] = [await queue({ 'save-plan': true }), await queue({ 'plan-only': true })];
    await plan(saved, () => narrow(harness, team, 'read'));
    await plan(only, async () => undefined);
    expect(await runs.statusOf(saved)).toBe('planned_and_saved');
    expect(await runs.statusOf(only)).toBe('planned_and_finished');
    for (const id of [saved, only]) expect(await describedEvents(id)).toEqual([]);
  });

  test('of an uploaded configuration waits if its announcer lost the right during its plan', async () => {
    const workspaceId = await runs.makeWorkspace({ 'auto-apply': true });
    const team = await teamWith(harness, workspaceId, { access: 'write' });
    const announced = await harness.call(
      'POST',
      `/workspaces/${workspaceId}/configuration-versions`,
      { data: { type: 'configuration-versions', attributes: {} } },
      team.tokens.member,
    );
    const address = String(announced.data.attributes['upload-url']);
    await harness.transfer('PUT', address, await archiveOf({ 'main.tf': '' }));
    const runId = (await runsOf(workspaceId))[0]?.id ?? '';
    await plan(runId, () => narrow(harness, team, 'plan'));
    expect(await outcomeOf(runId)).toEqual(waiting(LOST));
  });
});

describe('a run of a run trigger', () => {
  test.for([true, false])('with auto-apply-run-trigger %s at its end', async (isAutomatic) => {
    const sourceId = await runs.makeWorkspace();
    const workspaceId = await runs.makeWorkspace({ 'auto-apply-run-trigger': true });
    await harness.create(
      `/workspaces/${workspaceId}/run-triggers`,
      'run-triggers',
      {},
      { relationships: { sourceable: { data: { type: 'workspaces', id: sourceId } } } },
    );
    const applied = await runs.queue(sourceId, { 'auto-apply': true });
    for (let phases = 2; phases > 0; phases -= 1) {
      await runs.claim();
      await runs.finish(applied);
    }
    const runId = (await runsOf(workspaceId))[0]?.id ?? '';
    await plan(runId, () => patchWorkspace(workspaceId, { 'auto-apply-run-trigger': isAutomatic }));
    expect(await outcomeOf(runId)).toEqual(
      isAutomatic
        ? APPLIED
        : waiting(
            'waits for a confirmation: auto-apply-run-trigger of the workspace was switched off',
          ),
    );
  });
});

describe('a run of auto-destroy', () => {
  test.for([
    ['nothing is changed', {}, true],
    ['the time is moved', { 'auto-destroy-at': '2100-01-01T00:00:00Z' }, false],
    ['the time is removed', { 'auto-destroy-at': null }, false],
    ['destroy plans are forbidden', { 'allow-destroy-plan': false }, false],
  ] as const)('if %s', async ([, change, isAutomatic]) => {
    const at = new Date(harness.clock.nowMs() + DAY_MS).toISOString();
    const workspaceId = await runs.makeWorkspace({ 'auto-destroy-at': at });
    await harness.call('POST', `/workspaces/${workspaceId}/actions/lock`);
    const state = stateText(1);
    await harness.create(`/workspaces/${workspaceId}/state-versions`, 'state-versions', {
      serial: 1,
      md5: md5(state),
      state: Buffer.from(state).toString('base64'),
    });
    await harness.call('POST', `/workspaces/${workspaceId}/actions/unlock`);
    harness.clock.advance(DAY_MS);
    for (const id of runs.agentIds)
      await runs.asPool('PATCH', `/agents/${id}`, { data: { type: 'agents', attributes: {} } });
    await harness.runUpkeep();
    const runId = (await runsOf(workspaceId))[0]?.id ?? '';
    await plan(runId, () => patchWorkspace(workspaceId, change));
    expect(await outcomeOf(runId)).toEqual(
      isAutomatic
        ? APPLIED
        : waiting(
            'waits for a confirmation: the workspace is not to be destroyed automatically any more',
          ),
    );
  });
});
