/**
 * Administrators of the site switch agent pools and OAuth clients off:
 *
 * | what               | a pool that is off                   | a client that is off                    |
 * | ------------------ | ------------------------------------ | --------------------------------------- |
 * | members            | see it, with its state               | see it, with its state                  |
 * | from now on        | its agents get no run                | deliveries are refused, work fails      |
 * | when it is on again | waiting runs are claimed             | deliveries are accepted                 |
 */
import { afterAll, expect, test } from 'vitest';
import { startRepositoryHarness } from '../../../test/repository-harness.ts';
import { startRunHarness } from '../../../test/run-harness.ts';

const runs = await startRunHarness();
const repositories = await startRepositoryHarness();
afterAll(async () => {
  await repositories[Symbol.asyncDispose]();
  await runs.harness[Symbol.asyncDispose]();
});

const disabled = (type: string, isDisabled: boolean) => ({
  data: { type, attributes: { 'is-disabled': isDisabled } },
});

test('the agents of a pool that is off get no run, and get it when the pool is on', async () => {
  const { harness } = runs;
  const [pool] = (await harness.call('GET', '/admin/agent-pools?q=ACME')).list;
  expect(pool?.attributes).toMatchObject({ name: 'pool', 'is-disabled': false });
  const turn = (isDisabled: boolean) =>
    harness.call('PATCH', `/admin/agent-pools/${pool?.id}`, disabled('agent-pools', isDisabled));
  const first = await runs.queue(await runs.makeWorkspace());
  expect((await runs.claim())?.id).toBe(first);
  const second = await runs.queue(await runs.makeWorkspace());
  expect((await turn(true)).data.attributes['is-disabled']).toBe(true);
  expect(await runs.claim()).toBeUndefined();
  // The phase under way ends.
  expect(await runs.finish(first, false)).toBe(204);
  const shown = await harness.call('GET', `/agent-pools/${pool?.id}`);
  expect(shown.data.attributes['is-disabled']).toBe(true);
  const metrics = await harness.registry.metrics();
  expect(metrics).toContain('keelson_parts_switched_off{kind="agent_pools"} 1');

  expect((await turn(false)).status).toBe(200);
  const later = await runs.claim();
  expect(later?.id).toBe(second);
  await runs.report(second, { status: 'errored' });
});

test('deliveries of an OAuth client that is off are refused, and its provider is not asked', async () => {
  const { harness, connect, deliver, pushed, server } = repositories;
  const { id, first } = await connect();
  await harness.runUpkeep();
  const { list } = await harness.call('GET', '/admin/oauth-clients');
  const client = list.at(-1);
  const turn = (isDisabled: boolean) =>
    harness.call(
      'PATCH',
      `/admin/oauth-clients/${client?.id}`,
      disabled('oauth-clients', isDisabled),
    );
  expect((await turn(true)).data.attributes['is-disabled']).toBe(true);
  const shown = await harness.call('GET', `/oauth-clients/${client?.id}`);
  expect(shown.data.attributes['is-disabled']).toBe(true);
  const push = pushed('refs/heads/main', first);
  expect((await deliver(id, push)).status).toBe(403);

  await turn(false);
  expect((await deliver(id, push)).status).toBe(202);
  // A commit that was accepted before is not fetched.
  await turn(true);
  let isAsked = false;
  server.beforeGit = () => {
    isAsked = true;
    return false;
  };
  await harness.runUpkeep();
  expect(isAsked).toBe(false);
  expect((await harness.call('GET', '/admin/oauth-clients?q=nothing')).list).toEqual([]);
});
