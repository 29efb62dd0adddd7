import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';

let runs: Awaited<ReturnType<typeof startRunHarness>>;
beforeAll(async () => {
  runs = await startRunHarness();
});
afterAll(() => runs.harness[Symbol.asyncDispose]());

const call = (method: string, path: string, body?: unknown) =>
  runs.harness.call(method, path, body);
/** Agents claim the oldest phase first, so that all waiting phases are executed before this run. */
const start = async (runId: string) => {
  for (;;) {
    const claimed = await runs.claim();
    if (claimed === undefined) throw new Error(`nothing waits, ${runId} neither`);
    if (claimed.id === runId) return;
    await runs.finish(claimed.id);
  }
};
const planned = async (workspaceId?: string) => {
  const id = await runs.queue(workspaceId ?? (await runs.makeWorkspace()));
  await start(id);
  await runs.finish(id);
  return id;
};
const eventsOf = async (runId: string, query = '') => {
  const reply = await call('GET', `/runs/${runId}/run-events${query}`);
  const byAction = new Map(reply.list.map((event) => [event.attributes['action'], event]));
  return { reply, of: (action: string) => byAction.get(action)?.relationships };
};
const adminId = async () => (await call('GET', '/account/details')).data.id;

describe('a comment on a run', () => {
  test('is listed, shown individually, and deleted with its workspace', async () => {
    const workspaceId = await runs.makeWorkspace();
    const runId = await runs.queue(workspaceId);
    const say = (body: string) =>
      runs.harness.create(`/runs/${runId}/comments`, 'comments', { body });
    const [first, second] = [await say('first'), await say('second')];
    const { list, meta } = await call('GET', `/runs/${runId}/comments`);
    expect(list.map(({ id, attributes }) => [id, attributes['body']])).toEqual([
      [first.id, 'first'],
      [second.id, 'second'],
    ]);
    expect(meta.pagination['total-count']).toBe(2);
    const shown = await call('GET', `/comments/${first.id}`);
    expect(shown.data.relationships['created-by']?.data).toEqual({
      id: await adminId(),
      type: 'users',
    });
    const run = await call('GET', `/runs/${runId}`);
    expect(run.data.attributes['permissions']).toMatchObject({ 'can-comment': true });
    await call('DELETE', `/workspaces/${workspaceId}`);
    expect((await call('GET', `/comments/${first.id}`)).status).toBe(404);
  });

  test('is listed after all earlier ones, in pages', async () => {
    const runId = await runs.queue(await runs.makeWorkspace());
    const said = Array.from({ length: 11 }, (_, at) => `comment ${at}`);
    for (const body of said) {
      await runs.harness.create(`/runs/${runId}/comments`, 'comments', { body });
    }
    const list = async (query: string) =>
      (await call('GET', `/runs/${runId}/comments?${query}`)).list.map(
        ({ attributes }) => attributes['body'],
      );
    expect(await list('')).toEqual(said);
    expect(await list('page[size]=5&page[number]=3')).toEqual(said.slice(10));
    await runs.act(runId, 'discard');
  });

  test.for([{}, { body: '' }, { body: 7 }])('is refused with the body %j', async (attributes) => {
    const runId = await runs.queue(await runs.makeWorkspace());
    const body = { data: { type: 'comments', attributes } };
    const { status, errors } = await call('POST', `/runs/${runId}/comments`, body);
    expect(status).toBe(422);
    expect(errors[0]?.source?.pointer).toBe('/data/attributes/body');
    await runs.act(runId, 'discard');
  });

  test.for([
    ['apply', 'confirmed'],
    ['discard', 'discarded'],
  ] as const)('is stored with the action %s', async ([action, event]) => {
    const runId = await planned();
    expect(await runs.act(runId, action)).toBe(202);
    const { list } = await call('GET', `/runs/${runId}/comments`);
    expect(list.map(({ attributes }) => attributes['body'])).toEqual(['because']);
    const { reply, of } = await eventsOf(runId, '?include=comment,actor');
    const userId = await adminId();
    expect(of(event)?.['comment']?.data).toEqual({ id: list[0]?.id, type: 'comments' });
    expect(of(event)?.['actor']?.data).toEqual({ id: userId, type: 'users' });
    expect(of('queued')?.['actor']?.data).toEqual({ id: userId, type: 'users' });
    expect(of('planning')).toMatchObject({ actor: { data: null }, comment: { data: null } });
    expect(reply.included.map(({ id }) => id).toSorted()).toEqual(
      [userId, list[0]?.id ?? ''].toSorted(),
    );
  });

  test('is stored with a cancel, and shows where the run was stopped', async () => {
    const runId = await runs.queue(await runs.makeWorkspace());
    await start(runId);
    expect(await runs.act(runId, 'cancel')).toBe(202);
    await runs.report(runId, { status: 'canceled' });
    const { of } = await eventsOf(runId);
    expect(of('canceled')?.['comment']?.data).not.toBeNull();
    expect(of('canceled')?.['actor']?.data).toEqual({ id: await adminId(), type: 'users' });
  });

  test('is not stored with a refused action', async () => {
    const runId = await runs.queue(await runs.makeWorkspace());
    expect(await runs.act(runId, 'apply')).toBe(409);
    expect((await call('GET', `/runs/${runId}/comments`)).list).toEqual([]);
    await runs.act(runId, 'discard');
  });

  test('belongs to the force-executed run, and not to the discarded one', async () => {
    const workspaceId = await runs.makeWorkspace();
    const blocking = await planned(workspaceId);
    const forced = await runs.queue(workspaceId);
    expect(await runs.act(forced, 'force-execute')).toBe(202);
    expect((await call('GET', `/runs/${forced}/comments`)).list).toHaveLength(1);
    expect((await call('GET', `/runs/${blocking}/comments`)).list).toEqual([]);
    const { of } = await eventsOf(blocking);
    expect(of('discarded')?.['actor']?.data).toEqual({ id: await adminId(), type: 'users' });
  });
});

test('events of a run are listed in the order in which they occurred, each with its comment', async () => {
  const runId = await runs.queue(await runs.makeWorkspace());
  const startedAtMs = runs.harness.clock.nowMs();
  const steps = [
    () => start(runId),
    () => runs.finish(runId),
    () => runs.act(runId, 'apply'),
    () => start(runId),
    () => runs.report(runId, { status: 'errored' }),
  ];
  for (const step of steps) {
    runs.harness.clock.advance(1000);
    await step();
  }
  const { list } = await call('GET', `/runs/${runId}/run-events`);
  const told = ['queued', 'planning', 'planned', 'confirmed', 'applying', 'errored'];
  expect(list.map(({ attributes }) => attributes)).toMatchObject(
    told.map((action, at) => ({
      action,
      'created-at': new Date(startedAtMs + at * 1000).toISOString(),
    })),
  );
  const { list: comments } = await call('GET', `/runs/${runId}/comments`);
  expect(comments[0]?.relationships['run-event']?.data).toEqual({
    id: list[3]?.id,
    type: 'run-events',
  });
});
