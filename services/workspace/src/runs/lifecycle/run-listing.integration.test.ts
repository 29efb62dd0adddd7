/** Lists of runs: their order, their filters, the queue of an organization. */
import { afterAll, describe, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';

const O = '/organizations/acme';
const { harness, poolId, act, claim, finish, makeWorkspace, queue, uploadTo, workspaceOf } =
  await startRunHarness();
afterAll(() => harness[Symbol.asyncDispose]());

const idsOf = async (target: string) =>
  (await harness.call('GET', target)).list.map(({ id }) => id);

describe('runs of one millisecond', () => {
  test('are listed and executed in the order in which they were queued', async () => {
    const workspaceId = await makeWorkspace();
    const queued: string[] = [];
    for (let index = 0; index < 12; index += 1) queued.push(await queue(workspaceId));
    const newestFirst = queued.toReversed();
    expect(await idsOf(`/workspaces/${workspaceId}/runs`)).toEqual(newestFirst);
    expect(await idsOf(`/workspaces/${workspaceId}/runs?page[size]=5&page[number]=2`)).toEqual(
      newestFirst.slice(5, 10),
    );
    expect(await idsOf(`${O}/runs?filter[status]=pending`)).toEqual(newestFirst);
    for (const runId of queued) {
      expect((await claim())?.id).toBe(runId);
      await finish(runId, false);
    }
  });
});

describe('runs of several workspaces in one millisecond', () => {
  test('have the order of their creation in lists, pages and the queue, and for agents', async () => {
    harness.clock.advance(1);
    const queued: string[] = [];
    for (let index = 0; index < 6; index += 1) queued.push(await queue(await makeWorkspace()));
    const ofStatus = `${O}/runs?filter[status]=pending`;
    const listed = await idsOf(ofStatus);
    expect(listed).toEqual(queued.toReversed());
    const paged: string[] = [];
    for (const number of [1, 2, 3]) {
      paged.push(...(await idsOf(`${ofStatus}&page[size]=2&page[number]=${number}`)));
    }
    expect(paged).toEqual(listed);
    expect(await idsOf(`${O}/runs/queue`)).toEqual(listed.toReversed());
    for (const runId of listed.toReversed()) {
      expect((await claim())?.id).toBe(runId);
      await finish(runId, false);
    }
  });
});

describe('a list of runs', () => {
  test('by a commit is empty: no run comes from a repository', async () => {
    const workspaceId = await makeWorkspace();
    const runId = await queue(workspaceId);
    const path = `/workspaces/${workspaceId}/runs`;
    expect(await idsOf(path)).toEqual([runId]);
    expect(await idsOf(`${path}?search[commit]=4f2a`)).toEqual([]);
    await act(runId, 'discard');
  });

  test('can be filtered by creator, message, source and time', async () => {
    const [first, second] = [await makeWorkspace(), await makeWorkspace()];
    const team = await harness.create(`${O}/teams`, 'teams', { name: 'planners' });
    const relationships = {
      team: { data: { type: 'teams', id: team.id } },
      workspace: { data: { type: 'workspaces', id: first } },
    };
    await harness.create(
      '/team-workspaces',
      'team-workspaces',
      { access: 'write' },
      { relationships },
    );
    const { token } = await harness.addUser('Planner', team.id);
    const asked = await harness.call(
      'POST',
      '/runs',
      {
        data: {
          type: 'runs',
          attributes: { message: 'Rotate 100% of the_keys' },
          relationships: { workspace: { data: { type: 'workspaces', id: first } } },
        },
      },
      token,
    );
    const ofPlanner = asked.data.id;
    // Runs of different workspaces are ordered only by time.
    harness.clock.advance(1);
    const other = await queue(second, { message: 'something else' });
    const search = (query: string) => idsOf(`${O}/runs?${query}`);
    expect(await search('search[user]=planner')).toEqual([ofPlanner]);
    expect(await search('search[user]=nobody')).toEqual([]);
    expect(await search('search[basic]=100%25 OF the_')).toEqual([ofPlanner]);
    expect(await search('search[basic]=100_ of')).toEqual([]);
    expect(await search(`search[basic]=${other}`)).toEqual([other]);
    expect(await search('search[basic]=Planner')).toEqual([ofPlanner]);
    expect(await search('search[commit]=abc')).toEqual([]);
    const { attributes } = await workspaceOf(second);
    expect(await search(`filter[workspace_names]=${String(attributes['name'])}`)).toEqual([other]);
    expect(await search('filter[workspace_names]=absent')).toEqual([]);
    const open = 'filter[status_group]=non_final';
    const ofPool = `${open}&filter[agent_pool_names]=pool`;
    expect(await search(ofPool)).toEqual([other, ofPlanner]);
    await claim();
    expect(await search(ofPool)).toEqual([other, ofPlanner]);
    const year = new Date(harness.clock.nowMs()).getUTCFullYear();
    expect(await search(`${open}&filter[timeframe]=${year}`)).toEqual([other, ofPlanner]);
    expect(await search(`${open}&filter[timeframe]=year`)).toEqual([other, ofPlanner]);
    expect(await search(`${open}&filter[timeframe]=${year - 1}`)).toEqual([]);
    await finish(ofPlanner, false);
    await act(other, 'discard');
  });

  test('can be filtered by the pool that executes them or that they wait for', async () => {
    const workspaceId = await makeWorkspace();
    const { id: elsewhere } = await harness.create(`${O}/agent-pools`, 'agent-pools', {
      name: 'elsewhere',
    });
    const waitFor = (agentPoolId: string) =>
      harness.call('PATCH', `/workspaces/${workspaceId}`, {
        data: { type: 'workspaces', attributes: { 'agent-pool-id': agentPoolId } },
      });
    const runId = await queue(workspaceId);
    for (const list of [`/workspaces/${workspaceId}/runs`, `${O}/runs`]) {
      const idsIn = (name: string) =>
        idsOf(`${list}?filter[status]=pending,planning&filter[agent_pool_names]=${name}`);
      expect(await idsIn('pool')).toEqual([runId]);
      expect(await idsIn('elsewhere')).toEqual([]);
      expect((await waitFor(elsewhere)).status).toBe(200);
      expect(await idsIn('pool')).toEqual([]);
      expect(await idsIn('elsewhere,absent')).toEqual([runId]);
      await waitFor(poolId);
    }
    await claim();
    await waitFor(elsewhere);
    // The run's agent belongs to the other pool, although the workspace has since been changed.
    const path = `/workspaces/${workspaceId}/runs?filter[agent_pool_names]`;
    expect(await idsOf(`${path}=pool`)).toEqual([runId]);
    expect(await idsOf(`${path}=elsewhere`)).toEqual([]);
    await finish(runId, false);
  });

  test('can be filtered by source', async () => {
    const workspaceId = await makeWorkspace();
    await uploadTo(workspaceId, { 'auto-queue-runs': true });
    const runId = await queue(workspaceId);
    const path = `/workspaces/${workspaceId}/runs`;
    const [asked, uploaded] = await idsOf(path);
    expect(asked).toBe(runId);
    expect(await idsOf(`${path}?filter[source]=tfe-api`)).toEqual([asked]);
    expect(await idsOf(`${path}?filter[source]=tfe-configuration-version`)).toEqual([uploaded]);
    for (const id of [asked, uploaded]) await act(id ?? '', 'discard');
  });

  test('can be filtered by status and status group, without counting a run twice', async () => {
    const workspaceId = await makeWorkspace();
    const [running, waiting] = [await queue(workspaceId), await queue(workspaceId)];
    await claim();
    const found = async (query: string) => {
      const path = `/workspaces/${workspaceId}/runs?${query}`;
      const { list, meta } = await harness.call('GET', path);
      expect(meta.pagination['total-count']).toBe(list.length);
      return list.map(({ id }) => id);
    };
    expect(await found('filter[status]=pending,pending')).toEqual([waiting]);
    const both = 'filter[status]=pending,planning';
    expect(await found(both)).toEqual([waiting, running]);
    expect(await found(`${both}&filter[status_group]=non_final`)).toEqual([waiting, running]);
    expect(await found(`${both}&filter[status_group]=discardable`)).toEqual([waiting]);
    expect(await found(`${both}&filter[status_group]=final`)).toEqual([]);
    expect(await found('filter[status_group]=discardable')).toEqual([waiting]);
    const unknown = await harness.call(
      'GET',
      `/workspaces/${workspaceId}/runs?filter[status_group]=unheard-of`,
    );
    expect([unknown.status, unknown.errors[0]?.detail]).toEqual([
      400,
      expect.stringContaining('filter[status_group] must be one of '),
    ]);
    expect(await found('filter[status]=policy_checked')).toEqual([]);
    await act(waiting, 'discard');
    await finish(running, false);
    expect(await found('filter[status_group]=final')).toEqual([waiting, running]);
  });

  test('includes related resources of its runs once each', async () => {
    const workspaceId = await makeWorkspace();
    const runs = [await queue(workspaceId), await queue(workspaceId)];
    const { included } = await harness.call(
      'GET',
      `/workspaces/${workspaceId}/runs?include=plan,apply,workspace,configuration-version,run_events`,
    );
    const counted = Map.groupBy(included, ({ type }) => type);
    expect([...counted].map(([type, list]) => [type, list.length])).toEqual([
      ['plans', 2],
      ['applies', 2],
      ['workspaces', 1],
      ['configuration-versions', 1],
      ['run-events', 2],
    ]);
    const refused = await harness.call('GET', `/workspaces/${workspaceId}/runs?include=unknown`);
    expect(refused.status).toBe(400);
    for (const runId of runs) await act(runId, 'discard');
    const events = await harness.call('GET', `/runs/${runs[0]}/run-events`);
    expect(events.list.map(({ attributes }) => attributes['action'])).toEqual([
      'queued',
      'discarded',
    ]);
  });
});

describe('the queue of an organization', () => {
  test('lists running before waiting runs, with a count', async () => {
    const waiting = await makeWorkspace();
    const running = await makeWorkspace();
    const [first, blocked] = [await queue(running), await queue(running)];
    await claim();
    harness.clock.advance(1);
    const last = await queue(waiting);
    const { list } = await harness.call('GET', `${O}/runs/queue`);
    expect(list.map(({ id, attributes }) => [id, attributes['position-in-queue']])).toEqual([
      // Clients subtract the number of executing runs: no run is before the first waiting one.
      [first, 0],
      [blocked, 0],
      [last, 2],
    ]);
    const second = await harness.call('GET', `${O}/runs/queue?page[size]=2&page[number]=2`);
    expect(second.list.map(({ attributes }) => attributes['position-in-queue'])).toEqual([2]);
    const capacity = await harness.call('GET', `${O}/capacity`);
    expect(capacity.data).toMatchObject({
      id: 'acme',
      type: 'organization-capacity',
      attributes: { pending: 2, running: 1 },
    });
    const pool = await harness.call('GET', `/agent-pools/${poolId}`);
    expect(pool.data.attributes['agent-count']).toBe(3);
    // A confirmed run waits for an agent again.
    await finish(first);
    await act(first, 'apply');
    const confirmed = await harness.call('GET', `${O}/capacity`);
    expect(confirmed.data.attributes).toEqual({ pending: 3, running: 0 });
  });
});

// Last, because no agent is left after such a long time.
test('a list of the runs of the last year begins a year ago', async () => {
  const workspaceId = await makeWorkspace();
  const runId = await queue(workspaceId);
  const path = `/workspaces/${workspaceId}/runs?filter[timeframe]=year`;
  harness.clock.advance(365 * 24 * 60 * 60 * 1000);
  expect(await idsOf(path)).toEqual([runId]);
  harness.clock.advance(1);
  expect(await idsOf(path)).toEqual([]);
});
