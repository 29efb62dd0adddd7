/**
 * Administrators of the site switch agent pools and OAuth clients off:
 *
 * | what               | a pool that is off                   | a client that is off                    |
 * | ------------------ | ------------------------------------ | --------------------------------------- |
 * | members            | see it, with its state               | see it, with its state                  |
 * | from now on        | its agents get no run                | deliveries are refused                  |
 * | what waits         | waits                                | is given up, with the reason            |
 * | what is under way  | ends                                 | comes to nothing, and is given up       |
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

/** Switches the client of the repositories off or on. */
const turnClient = (isDisabled: boolean) =>
  repositories.harness.call(
    'PATCH',
    `/admin/oauth-clients/${repositories.clientId}`,
    disabled('oauth-clients', isDisabled),
  );
const GIVEN_UP = { outcome: 'failed', detail: expect.stringContaining('is disabled') as string };

test('deliveries of an OAuth client that is off are refused, and what waits is given up', async () => {
  const { harness, connect, deliver, pushed, server, logOf, clientId } = repositories;
  const { id, first } = await connect();
  await harness.runUpkeep();
  const turn = turnClient;
  expect((await turn(true)).data.attributes['is-disabled']).toBe(true);
  const shown = await harness.call('GET', `/oauth-clients/${clientId}`);
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
  expect((await logOf(id))[0]).toMatchObject(GIVEN_UP);
  await turn(false);
  harness.clock.advance(16 * 60 * 60_000);
  await harness.runUpkeep();
  expect(isAsked).toBe(false);
  expect((await harness.call('GET', '/admin/oauth-clients?q=nothing')).list).toEqual([]);
});

test('a commit that is being fetched when its client is switched off becomes no configuration', async () => {
  const { harness, connect, deliver, pushed, server, logOf, versionsOf, reset } = repositories;
  reset();
  const { id, identifier, first } = await connect();
  await harness.runUpkeep();
  const second = await server.commit(identifier, { 'main.tf': '2' });
  expect((await deliver(id, pushed('refs/heads/main', second, first))).status).toBe(202);
  const before = (await versionsOf(id)).list.length;
  server.beforeGit = async () => {
    server.beforeGit = () => false;
    await turnClient(true);
    return false;
  };
  await harness.runUpkeep();
  expect((await logOf(id))[0]).toMatchObject(GIVEN_UP);
  const versions = (await versionsOf(id)).list;
  expect(versions.slice(0, -before).map(({ attributes }) => attributes['status'])).toEqual([
    'errored',
  ]);
  await turnClient(false);
});
