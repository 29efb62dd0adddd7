/** Forced removal of the lock of a run that is being executed (docs/divergences/workspaces.md). */
import { afterAll, describe, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';
import { md5, stateText, url } from '../../../test/state-uploads.ts';

const runs = await startRunHarness();
const { harness, makeWorkspace, queue, claim, finish, report, act, statusOf, asRun } = runs;
afterAll(() => harness[Symbol.asyncDispose]());

const on = (workspaceId: string, action: string) =>
  harness.call('POST', `/workspaces/${workspaceId}/actions/${action}`);
const lockedBy = async (workspaceId: string) =>
  (await harness.call('GET', `/workspaces/${workspaceId}`)).data.relationships['locked-by']?.data;
const currentSerial = async (workspaceId: string) => {
  const path = `/workspaces/${workspaceId}/current-state-version`;
  const { status, data } = await harness.call('GET', path);
  return status === 200 ? data.attributes['serial'] : status;
};
const announceAs = (runId: string, workspaceId: string, serial: number, more: object = {}) => {
  const attributes = { serial, md5: md5(stateText(serial)), lineage: 'l-1', ...more };
  const body = { data: { type: 'state-versions', attributes } };
  return asRun(runId, 'POST', `/workspaces/${workspaceId}/state-versions`, body);
};
const storeAs = async (runId: string, workspaceId: string, serial: number, more: object = {}) => {
  const { status, data } = await announceAs(runId, workspaceId, serial, more);
  if (status !== 201) return status;
  const address = url(data, 'state-upload');
  return (await harness.transfer('PUT', address, Buffer.from(stateText(serial)))).status;
};
const startPlan = async (workspaceId: string) => {
  const runId = await queue(workspaceId);
  expect((await claim())?.id).toBe(runId);
  return runId;
};
const startApply = async (workspaceId: string) => {
  const runId = await startPlan(workspaceId);
  await finish(runId);
  await act(runId, 'apply');
  expect((await claim())?.id).toBe(runId);
  return runId;
};
const eventsOf = async (runId: string) =>
  (await harness.call('GET', `/runs/${runId}/run-events`)).list;

describe('while a run applies', () => {
  test('its workspace is unlocked, and no other run starts before it has ended', async () => {
    const workspaceId = await makeWorkspace();
    const first = await startApply(workspaceId);
    const second = await queue(workspaceId);
    const forced = await on(workspaceId, 'force-unlock');
    expect(forced.status).toBe(200);
    expect(forced.data.attributes['locked']).toBe(false);
    expect(await claim()).toBeUndefined();
    expect(await storeAs(first, workspaceId, 1)).toBe(204);
    expect(await claim()).toBeUndefined();
    expect(await finish(first)).toBe(204);
    expect(await statusOf(first)).toBe('applied');
    expect(await currentSerial(workspaceId)).toBe(1);
    expect((await claim())?.id).toBe(second);
    expect(await lockedBy(workspaceId)).toEqual({ id: second, type: 'runs' });
    await report(second, { status: 'errored' });
  });

  test('the answer and the events of the run name who took the lock', async () => {
    const workspaceId = await makeWorkspace();
    const runId = await startApply(workspaceId);
    const { id } = (await harness.call('GET', '/account/details')).data;
    const { meta } = await on(workspaceId, 'force-unlock');
    const user = { id, type: 'users' };
    expect(meta).toEqual({
      'forced-unlock': { run: { id: runId, type: 'runs' }, status: 'applying', by: user },
    });
    const event = (await eventsOf(runId)).at(-1);
    expect(event?.attributes).toMatchObject({
      action: 'force_unlocked',
      description: `User ${id} took the lock of the workspace away`,
      'created-at': new Date(harness.clock.nowMs()).toISOString(),
    });
    expect(event?.relationships['actor']?.data).toEqual(user);
    await finish(runId);
  });

  test('a team that unlocks is named by its id', async () => {
    const workspaceId = await makeWorkspace();
    const runId = await startApply(workspaceId);
    const team = await harness.create('/organizations/acme/teams', 'teams', {
      name: 'secret',
      'organization-access': { 'manage-workspaces': true },
    });
    const path = `/teams/${team.id}/authentication-token`;
    const made = await harness.create(path, 'authentication-tokens', {});
    const token = String(made.attributes['token']);
    const target = `/workspaces/${workspaceId}/actions/force-unlock`;
    const { meta } = await harness.call('POST', target, undefined, token);
    expect(meta).toMatchObject({ 'forced-unlock': { by: { id: team.id, type: 'teams' } } });
    const event = (await eventsOf(runId)).at(-1);
    expect(event?.attributes['description']).toBe(
      `Team ${team.id} took the lock of the workspace away`,
    );
    expect(event?.relationships['actor']?.data).toBeNull();
    await finish(runId);
  });

  test('it can still store its state after somebody else has taken the lock', async () => {
    const workspaceId = await makeWorkspace();
    const runId = await startApply(workspaceId);
    await on(workspaceId, 'force-unlock');
    expect((await on(workspaceId, 'lock')).status).toBe(200);
    expect(await storeAs(runId, workspaceId, 1)).toBe(204);
    await finish(runId);
    expect(await currentSerial(workspaceId)).toBe(1);
    // The lock now belongs to the user, so that only the user releases it.
    expect((await on(workspaceId, 'unlock')).status).toBe(200);
  });

  test('the serial decides between its state and that of the lock holder', async () => {
    const workspaceId = await makeWorkspace();
    const runId = await startApply(workspaceId);
    await on(workspaceId, 'force-unlock');
    await on(workspaceId, 'lock');
    const text = stateText(5);
    const attributes = { serial: 5, md5: md5(text), state: btoa(text) };
    const body = { data: { type: 'state-versions', attributes } };
    const path = `/workspaces/${workspaceId}/state-versions`;
    expect((await harness.call('POST', path, body)).status).toBe(201);
    expect(await storeAs(runId, workspaceId, 1)).toBe(409);
    await report(runId, { status: 'errored' });
    expect(await currentSerial(workspaceId)).toBe(5);
    expect((await on(workspaceId, 'unlock')).status).toBe(200);
  });

  test.for([
    ['nobody', 409],
    ['somebody', 200],
  ] as const)(
    'states that it announced and never uploaded are discarded when it ends, while %s has the lock',
    async ([holder, unlocked]) => {
      const workspaceId = await makeWorkspace();
      const runId = await startApply(workspaceId);
      const { data } = await announceAs(runId, workspaceId, 1);
      await on(workspaceId, 'force-unlock');
      if (holder === 'somebody') await on(workspaceId, 'lock');
      const pending = await harness.call('GET', `/state-versions/${data.id}`);
      expect(pending.data.attributes['status']).toBe('pending');
      await report(runId, { status: 'errored' });
      const gone = await harness.call('GET', `/state-versions/${data.id}`);
      expect(gone.data.attributes['status']).toBe('discarded');
      expect((await on(workspaceId, 'unlock')).status).toBe(unlocked);
    },
  );

  test('its intermediate state becomes current if it is interrupted', async () => {
    const workspaceId = await makeWorkspace();
    const runId = await startApply(workspaceId);
    await on(workspaceId, 'force-unlock');
    expect(await storeAs(runId, workspaceId, 1, { intermediate: true })).toBe(204);
    expect(await currentSerial(workspaceId)).toBe(404);
    await report(runId, { status: 'errored' });
    expect(await currentSerial(workspaceId)).toBe(1);
  });

  test('the workspace cannot be deleted safely', async () => {
    const workspaceId = await makeWorkspace();
    const runId = await startApply(workspaceId);
    await on(workspaceId, 'force-unlock');
    expect((await on(workspaceId, 'safe-delete')).status).toBe(409);
    await finish(runId);
    expect((await on(workspaceId, 'safe-delete')).status).toBe(204);
  });

  test.for([
    ['fails', (runId: string) => report(runId, { status: 'errored' })],
    [
      'is canceled',
      async (runId: string) => {
        await act(runId, 'cancel');
        return report(runId, { status: 'canceled' });
      },
    ],
  ] as const)('the next run starts once it %s', async ([, end]) => {
    const workspaceId = await makeWorkspace();
    const first = await startApply(workspaceId);
    const second = await queue(workspaceId);
    await on(workspaceId, 'force-unlock');
    expect(await claim()).toBeUndefined();
    expect(await end(first)).toBe(204);
    expect((await claim())?.id).toBe(second);
    await report(second, { status: 'errored' });
  });
});

test('while a run plans, another starts after the plan, and the apply waits for that one', async () => {
  const workspaceId = await makeWorkspace();
  const first = await startPlan(workspaceId);
  const second = await queue(workspaceId);
  expect((await on(workspaceId, 'force-unlock')).status).toBe(200);
  expect(await claim()).toBeUndefined();
  await finish(first);
  expect(await statusOf(first)).toBe('planned');
  expect((await claim())?.id).toBe(second);
  await act(first, 'apply');
  expect(await claim()).toBeUndefined();
  await report(second, { status: 'errored' });
  expect((await claim())?.id).toBe(first);
  expect(await lockedBy(workspaceId)).toEqual({ id: first, type: 'runs' });
  await finish(first);
});

test('the events of a run that waits for confirmation show it too', async () => {
  const workspaceId = await makeWorkspace();
  const runId = await startPlan(workspaceId);
  await finish(runId);
  const { meta } = await on(workspaceId, 'force-unlock');
  expect(meta).toMatchObject({ 'forced-unlock': { status: 'planned' } });
  expect((await eventsOf(runId)).at(-1)?.attributes['action']).toBe('force_unlocked');
  const next = await queue(workspaceId);
  expect((await claim())?.id).toBe(next);
  await report(next, { status: 'errored' });
  await act(runId, 'discard');
});
