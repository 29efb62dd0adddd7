/**
 * Numbers of runs over time (`run-statistics`).
 *
 * | case                                      | outcome                                                         |
 * | ----------------------------------------- | --------------------------------------------------------------- |
 * | runs that finish, fail, wait              | counted in the interval of their creation, by how they ended    |
 * | the time until a plan begins              | the mean of the interval's runs whose plan has begun            |
 * | an hour, a day, a month                   | minutes, steps of ten minutes, hours; the last has the present  |
 * | a health assessment                       | is not counted                                                  |
 * | another workspace, the organization       | has its own; that of all workspaces that the caller may see     |
 * | a caller who sees some workspaces, or none | counts those; is answered with 404                              |
 * | a workspace that was removed              | takes its runs with it                                          |
 * | another window                            | is refused by name                                              |
 */
import { afterAll, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';

const O = '/organizations/acme';
const MINUTE_MS = 60_000;
const { harness, claim, finish, makeWorkspace, queue, report, wait } = await startRunHarness();
afterAll(() => harness[Symbol.asyncDispose]());

const statistics = async (owner: string, window = 'hour', token?: string) => {
  const target = `${owner}/run-statistics?filter[window]=${window}`;
  const { status, data, errors } = await harness.call('GET', target, undefined, token);
  return { status, errors, attributes: data?.attributes ?? {} };
};
const numbers = async (owner: string, name: string, window = 'hour', token?: string) =>
  (await statistics(owner, window, token)).attributes[name] as readonly (number | null)[];
const total = async (owner: string, name: string, window = 'hour', token?: string) =>
  (await numbers(owner, name, window, token)).reduce<number>((sum, one) => sum + (one ?? 0), 0);

/** Executes the run that is next. */
const execute = async (end: 'finished' | 'errored') => {
  const run = await claim();
  if (run === undefined) throw new Error('no run waits');
  const reported = end === 'finished' ? finish(run.id, false) : report(run.id, { status: end });
  expect(await reported).toBe(204);
};

test('count runs by the time of their creation and by how they ended', async () => {
  const workspace = `/workspaces/${await makeWorkspace()}`;
  const workspaceId = workspace.slice('/workspaces/'.length);
  await queue(workspaceId);
  await wait(2 * MINUTE_MS);
  await execute('finished');
  await queue(workspaceId, { 'plan-only': true });
  await execute('errored');
  await queue(workspaceId);
  const { status, attributes } = await statistics(workspace);
  expect(status).toBe(200);
  expect(attributes).toMatchObject({ window: 'hour', 'step-seconds': 60 });
  const lastMs = Date.parse(String(attributes['start-at'])) + 59 * MINUTE_MS;
  expect(harness.clock.nowMs() - lastMs).toBeLessThan(MINUTE_MS);
  const last = async (name: string) => (await numbers(workspace, name)).slice(-3);
  expect(await last('created')).toEqual([1, 0, 2]);
  expect(await last('finished')).toEqual([1, 0, 0]);
  expect(await last('errored')).toEqual([0, 0, 1]);
  expect(await last('queue-seconds')).toEqual([120, null, 0]);
  for (const window of ['day', 'month'])
    expect([window, await total(workspace, 'created', window)]).toEqual([window, 3]);
  expect(await total(O, 'errored')).toBe(1);
  await execute('finished');
  await wait(61 * MINUTE_MS);
  expect(await total(workspace, 'created')).toBe(0);
  expect(await total(workspace, 'finished', 'day')).toBe(2);
});

test('are those of the workspaces that the caller may see, and end with them', async () => {
  const [seen, unseen] = [await makeWorkspace(), await makeWorkspace()];
  const team = await harness.create(`${O}/teams`, 'teams', { name: 'readers' });
  await harness.create(
    '/team-workspaces',
    'team-workspaces',
    { access: 'read' },
    {
      relationships: {
        team: { data: { type: 'teams', id: team.id } },
        workspace: { data: { type: 'workspaces', id: seen } },
      },
    },
  );
  const { token } = await harness.addUser('Reader', team.id);
  const before = await total(O, 'created');
  for (const id of [seen, unseen, unseen]) {
    await queue(id);
    await execute('finished');
  }
  expect(await total(O, 'created', 'hour', token)).toBe(1);
  expect(await total(`/workspaces/${seen}`, 'created', 'hour', token)).toBe(1);
  expect(await statistics(`/workspaces/${unseen}`, 'hour', token)).toMatchObject({ status: 404 });
  expect(await total(O, 'created')).toBe(before + 3);
  expect((await harness.call('DELETE', `/workspaces/${unseen}`)).status).toBeLessThan(300);
  expect(await total(O, 'created')).toBe(before + 1);
});

test('refuse another window', async () => {
  const { status, errors } = await statistics(O, 'year');
  expect([status, errors[0]?.detail]).toEqual([400, expect.stringContaining('hour, day, month')]);
});
