/** The actors, comments and events of a run in every document that shows the run. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';
import type { Reply } from '../../../test/workspace-harness.ts';

const runs = await startRunHarness();
const { harness, makeWorkspace, queue, claim, finish, report, act } = runs;
afterAll(() => harness[Symbol.asyncDispose]());

let userId: string;
beforeAll(async () => {
  userId = (await harness.call('GET', '/account/details')).data.id;
});

const show = async (runId: string) => (await harness.call('GET', `/runs/${runId}`)).data;
const byUser = () => ({ id: userId, type: 'users' });
const idsOf = ({ relationships }: Pick<Reply['data'], 'relationships'>, name: string) =>
  ((relationships[name]?.data ?? []) as { id: string }[]).map(({ id }) => id);
const planned = async (attributes: object = {}) => {
  const workspaceId = await makeWorkspace();
  const runId = await queue(workspaceId, attributes);
  await claim();
  await finish(runId);
  return { runId, workspaceId };
};

test('a run shows who confirmed it', async () => {
  const { runId } = await planned();
  const waiting = await show(runId);
  expect(waiting.relationships).toMatchObject({
    'confirmed-by': { data: null },
    'canceled-by': { data: null },
  });
  await act(runId, 'apply');
  expect((await show(runId)).relationships['confirmed-by']?.data).toEqual(byUser());
  await act(runId, 'cancel');
});

test('a run that is applied automatically shows no confirming user', async () => {
  const { runId } = await planned({ 'auto-apply': true });
  expect((await show(runId)).relationships['confirmed-by']?.data).toBeNull();
  await act(runId, 'cancel');
});

test.for(['pending', 'planning', 'confirmed'] as const)(
  'a run canceled while %s shows who did it, and keeps the time of a forced cancel',
  async (status) => {
    const runId = await queue(await makeWorkspace());
    if (status !== 'pending') await claim();
    if (status === 'confirmed') {
      await finish(runId);
      await act(runId, 'apply');
    }
    expect((await show(runId)).attributes['force-cancel-available-at']).toBeNull();
    const inAMinute = new Date(harness.clock.nowMs() + 60_000).toISOString();
    expect(await act(runId, 'cancel')).toBe(202);
    if (status === 'planning') await report(runId, { status: 'canceled' });
    const { attributes, relationships } = await show(runId);
    expect(attributes).toMatchObject({
      status: 'canceled',
      'force-cancel-available-at': inAMinute,
      actions: { 'is-force-cancelable': false },
    });
    expect(relationships['canceled-by']?.data).toEqual(byUser());
  },
);

test('a separate comment is an event, that of an action belongs to the event of the action', async () => {
  const { runId } = await planned();
  await harness.create(`/runs/${runId}/comments`, 'comments', { body: 'alone' });
  harness.clock.advance(1000);
  await act(runId, 'apply');
  const { list } = await harness.call('GET', `/runs/${runId}/run-events?include=comment,actor`);
  const actions = list.map(({ attributes }) => attributes['action']);
  expect(actions.slice(-2)).toEqual(['commented', 'confirmed']);
  const [alone, confirmed] = (await harness.call('GET', `/runs/${runId}/comments`)).list;
  for (const [comment, event] of [
    [alone, list.at(-2)],
    [confirmed, list.at(-1)],
  ]) {
    expect(event?.relationships).toMatchObject({
      comment: { data: { id: comment?.id, type: 'comments' } },
      actor: { data: byUser() },
    });
    expect(comment?.relationships['run-event']?.data).toEqual({
      id: event?.id,
      type: 'run-events',
    });
  }
  await act(runId, 'cancel');
});

test('a run has comments and events, each of which can be shown individually', async () => {
  const { runId, workspaceId } = await planned();
  await harness.create(`/runs/${runId}/comments`, 'comments', { body: 'alone' });
  const run = await show(runId);
  const { list: events } = await harness.call('GET', `/runs/${runId}/run-events`);
  const { list: comments } = await harness.call('GET', `/runs/${runId}/comments`);
  expect(events).toHaveLength(4);
  expect(idsOf(run, 'run-events')).toEqual(events.map(({ id }) => id));
  expect(idsOf(run, 'comments')).toEqual(comments.map(({ id }) => id));
  for (const event of events) {
    expect((await harness.call('GET', `/run-events/${event.id}`)).data).toEqual(event);
  }
  const commented = `/run-events/${events.at(-1)?.id}?include=comment,actor`;
  const { included } = await harness.call('GET', commented);
  expect(included.map(({ type }) => type).toSorted()).toEqual(['comments', 'users']);
  const listed = await harness.call('GET', `/workspaces/${workspaceId}/runs`);
  expect(listed.list[0]?.relationships).toEqual(run.relationships);
  const shown = await harness.call('GET', `/workspaces/${workspaceId}?include=current_run`);
  expect(shown.included[0]?.relationships).toEqual(run.relationships);
  await act(runId, 'discard');
});

test.for(['re-', 're-nothing', 'run-events', 're-1111111111111111-planned'])(
  'there is no event %s',
  async (id) => {
    expect((await harness.call('GET', `/run-events/${id}`)).status).toBe(404);
  },
);

test('the id of an event that did not occur is not found', async () => {
  const runId = await queue(await makeWorkspace());
  const id = `${runId.replace('run-', 're-')}-applied`;
  expect((await harness.call('GET', `/run-events/${id}`)).status).toBe(404);
  await act(runId, 'discard');
});
