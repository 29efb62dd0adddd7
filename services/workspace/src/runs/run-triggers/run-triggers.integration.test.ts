/**
 * Run triggers, as their document describes them:
 *
 * | endpoint | success | refused |
 * | --- | --- | --- |
 * | POST /workspaces/:id/run-triggers | 201 | 404, 422; no admin, or runs of the source not readable: 404 |
 * | GET /workspaces/:id/run-triggers | 200 in pages, `include` | without `filter[run-trigger][type]` 400; 404 |
 * | GET /run-triggers/:id | 200, `include` | 404 |
 * | DELETE /run-triggers/:id | 204 | 404 |
 *
 * Permissions are covered by `callers.integration.test.ts`.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';
import type { Harness } from '../../../test/workspace-harness.ts';

const O = '/organizations/acme';
let runs: Awaited<ReturnType<typeof startRunHarness>>;
let harness: Harness;
beforeAll(async () => {
  runs = await startRunHarness();
  ({ harness } = runs);
});
afterAll(() => harness[Symbol.asyncDispose]());

const connect = (workspaceId: string, sourceId: string, token?: string) =>
  harness.call(
    'POST',
    `/workspaces/${workspaceId}/run-triggers`,
    { data: { relationships: { sourceable: { data: { type: 'workspaces', id: sourceId } } } } },
    token,
  );
const list = (workspaceId: string, type: string, extra = '') =>
  harness.call(
    'GET',
    `/workspaces/${workspaceId}/run-triggers?filter[run-trigger][type]=${type}${extra}`,
  );
const runsOf = async (workspaceId: string) =>
  (await harness.call('GET', `/workspaces/${workspaceId}/runs`)).list.map(
    ({ attributes }) => attributes,
  );
/** A workspace with no configuration. */
let serial = 0;
const makeEmpty = async (attributes: object = {}) => {
  const name = `empty-${(serial += 1)}`;
  return (await harness.create(`${O}/workspaces`, 'workspaces', { name, ...attributes })).id;
};
/** Queues a run, and has agents plan and apply it. */
const apply = async (workspaceId: string): Promise<string> => {
  const runId = await runs.queue(workspaceId, { 'auto-apply': true });
  for (let phases = 2; phases > 0; phases -= 1) {
    await runs.claim();
    await runs.finish(runId);
  }
  expect(await runs.statusOf(runId)).toBe('applied');
  return runId;
};

describe('a run trigger', () => {
  test('can be created, listed on both sides, shown and deleted', async () => {
    const [workspaceId, sourceId] = [await makeEmpty(), await makeEmpty()];
    const made = await connect(workspaceId, sourceId);
    expect(made.status).toBe(201);
    const { id } = made.data;
    expect(made.data).toMatchObject({
      id: expect.stringMatching(/^rt-/),
      type: 'run-triggers',
      relationships: {
        workspace: { data: { id: workspaceId, type: 'workspaces' } },
        sourceable: { data: { id: sourceId, type: 'workspaces' } },
      },
      links: { self: `/api/v2/run-triggers/${id}` },
    });
    const named = await harness.call('GET', `/workspaces/${sourceId}`);
    expect(made.data.attributes['sourceable-name']).toBe(named.data.attributes['name']);
    for (const [at, type] of [
      [workspaceId, 'inbound'],
      [sourceId, 'outbound'],
    ] as const) {
      const listed = await list(at, type, '&include=workspace,sourceable');
      expect(listed.list).toEqual([made.data]);
      expect(listed.included.map((one) => one.id)).toEqual([workspaceId, sourceId]);
      expect(listed.meta.pagination['total-count']).toBe(1);
      expect((await list(at, type === 'inbound' ? 'outbound' : 'inbound')).list).toEqual([]);
    }
    const shown = await harness.call('GET', `/run-triggers/${id}?include=sourceable`);
    expect([shown.data, shown.included.map((one) => one.id)]).toEqual([made.data, [sourceId]]);
    expect((await harness.call('DELETE', `/run-triggers/${id}`)).status).toBe(204);
    expect((await harness.call('GET', `/run-triggers/${id}`)).status).toBe(404);
    expect((await list(workspaceId, 'inbound')).list).toEqual([]);
  });

  test.for(['', '?filter[run-trigger][type]=both'])('list is refused with "%s"', async (query) => {
    const path = `/workspaces/${await makeEmpty()}/run-triggers${query}`;
    const { status, errors } = await harness.call('GET', path);
    expect([status, errors[0]?.detail]).toEqual([
      400,
      expect.stringContaining('filter[run-trigger][type] must be one of inbound, outbound'),
    ]);
  });

  test('is refused if it exists, names its own workspace, or closes a cycle', async () => {
    const [a, b, c] = [await makeEmpty(), await makeEmpty(), await makeEmpty()];
    expect((await connect(b, a)).status).toBe(201);
    expect((await connect(c, b)).status).toBe(201);
    for (const [workspaceId, sourceId] of [
      [b, a],
      [a, a],
      [a, b],
      [a, c],
    ] as const) {
      const { status, errors } = await connect(workspaceId, sourceId);
      expect([status, errors[0]?.source?.pointer]).toEqual([
        422,
        '/data/relationships/sourceable/data/id',
      ]);
    }
    // Two paths to one workspace are not a cycle.
    expect((await connect(c, a)).status).toBe(201);
  });

  test('is refused for a source that is absent or of another organization', async () => {
    await harness.create('/organizations', 'organizations', {
      name: 'globex',
      email: 'a@b.example',
    });
    const theirs = await harness.create('/organizations/globex/workspaces', 'workspaces', {
      name: 'theirs',
    });
    const workspaceId = await makeEmpty();
    for (const sourceId of [theirs.id, 'ws-none']) {
      expect((await connect(workspaceId, sourceId)).status).toBe(404);
    }
  });

  test('is refused beyond 20 per workspace', async () => {
    const workspaceId = await makeEmpty();
    for (let count = 20; count > 0; count -= 1) {
      expect((await connect(workspaceId, await makeEmpty())).status).toBe(201);
    }
    const { status, errors } = await connect(workspaceId, await makeEmpty());
    expect([status, errors[0]?.detail]).toEqual([
      409,
      'a workspace has at most 20 source workspaces',
    ]);
  });

  test('requires an administrator who can read the runs of the source', async () => {
    const [workspaceId, sourceId] = [await makeEmpty(), await makeEmpty()];
    const team = await harness.create(`${O}/teams`, 'teams', { name: 'connectors' });
    const grant = (access: string, id: string) =>
      harness.create(
        '/team-workspaces',
        'team-workspaces',
        { access },
        {
          relationships: {
            team: { data: { type: 'teams', id: team.id } },
            workspace: { data: { type: 'workspaces', id } },
          },
        },
      );
    const { token } = await harness.addUser('connector', team.id);
    await grant('admin', workspaceId);
    expect((await connect(workspaceId, sourceId, token)).status).toBe(404);
    await grant('read', sourceId);
    const made = await connect(workspaceId, sourceId, token);
    expect(made.status).toBe(201);
    expect((await connect(sourceId, workspaceId, token)).status).toBe(404);
  });

  test.for(['workspace', 'source'])('is removed with its %s', async (side) => {
    const [workspaceId, sourceId] = [await makeEmpty(), await makeEmpty()];
    const { data } = await connect(workspaceId, sourceId);
    const [deleted, left] =
      side === 'workspace' ? [workspaceId, sourceId] : [sourceId, workspaceId];
    expect((await harness.call('DELETE', `/workspaces/${deleted}`)).status).toBe(204);
    expect((await harness.call('GET', `/run-triggers/${data.id}`)).status).toBe(404);
    for (const type of ['inbound', 'outbound']) expect((await list(left, type)).list).toEqual([]);
  });
});

describe('an apply in the source', () => {
  test('queues a run in each workspace, which applies automatically if the workspace is configured so', async () => {
    const sourceId = await runs.makeWorkspace();
    const confirmed = await runs.makeWorkspace({ 'auto-apply': true });
    const automatic = await runs.makeWorkspace({ 'auto-apply-run-trigger': true });
    const local = await makeEmpty({ 'execution-mode': 'local' });
    const unconfigured = await makeEmpty({
      'execution-mode': 'agent',
      'agent-pool-id': runs.poolId,
    });
    for (const id of [confirmed, automatic, local, unconfigured]) await connect(id, sourceId);
    const runId = await apply(sourceId);
    const { data } = await harness.call('GET', `/workspaces/${sourceId}`);
    const triggered = {
      status: 'pending',
      source: 'tfe-run-trigger',
      message: `Triggered by the apply of ${runId} in workspace ${String(data.attributes['name'])}`,
    };
    expect(await runsOf(confirmed)).toMatchObject([{ ...triggered, 'auto-apply': false }]);
    expect(await runsOf(automatic)).toMatchObject([{ ...triggered, 'auto-apply': true }]);
    expect(await runsOf(local)).toEqual([]);
    expect(await runsOf(unconfigured)).toEqual([]);
    // Removed, so that other tests find no queued work.
    for (const id of [confirmed, automatic]) {
      const { list: queued } = await harness.call('GET', `/workspaces/${id}/runs`);
      await runs.act(queued[0]?.id ?? '', 'discard');
    }
  });

  test('queues the other runs when a workspace, or a trigger, cannot be read', async () => {
    const sourceId = await runs.makeWorkspace();
    const [lost, disconnected, kept] = [
      await runs.makeWorkspace(),
      await runs.makeWorkspace(),
      await runs.makeWorkspace(),
    ];
    const triggers: string[] = [];
    for (const id of [lost, disconnected, kept]) {
      triggers.push((await connect(id, sourceId)).data.id);
    }
    const paths = [`shared/workspaces/${lost}`, `shared/run-triggers/${triggers[1]}`];
    const records = await harness.store.stored.read(paths);
    await harness.store.applyRecords(
      'damage',
      paths.map((path) => ({ path, stored: Buffer.from([0]) })),
    );
    await apply(sourceId);
    await harness.store.applyRecords('repair', records);
    expect(await runsOf(lost)).toEqual([]);
    expect(await runsOf(disconnected)).toEqual([]);
    expect(await runsOf(kept)).toHaveLength(1);
    const { list: queued } = await harness.call('GET', `/workspaces/${kept}/runs`);
    await runs.act(queued[0]?.id ?? '', 'discard');
  });

  test('that did not complete queues nothing', async () => {
    const [workspaceId, sourceId] = [await runs.makeWorkspace(), await runs.makeWorkspace()];
    await connect(workspaceId, sourceId);
    const planned = await runs.queue(sourceId, { 'plan-only': true });
    await runs.claim();
    await runs.finish(planned);
    const failed = await runs.queue(sourceId, { 'auto-apply': true });
    await runs.claim();
    await runs.finish(failed);
    await runs.claim();
    await runs.report(failed, { status: 'errored' });
    expect(await runs.statusOf(failed)).toBe('errored');
    expect(await runsOf(workspaceId)).toEqual([]);
  });
});
