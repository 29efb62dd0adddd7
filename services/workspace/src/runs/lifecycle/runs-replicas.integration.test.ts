/** Runs over two replicas of the service on one PostgreSQL database. */
import { gzipSync } from 'node:zlib';
import { type PostgresServer, startPostgres } from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { uploadsTo } from '../../../test/state-uploads.ts';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';

const O = '/organizations/acme';
const DAY_MS = 86_400_000;
let postgres: PostgresServer;
let replicas: readonly [Harness, Harness];
let agentToken: string;
let poolId: string;
let agentIds: readonly string[];

beforeAll(async () => {
  postgres = await startPostgres();
  const connectionString = await postgres.createDatabase('runs');
  const first = await startHarness({ connectionString });
  replicas = [first, await startHarness({ connectionString, adminToken: first.adminToken })];
  await first.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  const pool = await first.create(`${O}/agent-pools`, 'agent-pools', { name: 'pool' });
  poolId = pool.id;
  const tokens = `/agent-pools/${pool.id}/authentication-tokens`;
  const token = await first.create(tokens, 'authentication-tokens', {});
  agentToken = String(token.attributes['token']);
  agentIds = await Promise.all(
    Array.from({ length: 20 }, async (_, at) => {
      const agent = { data: { type: 'agents', attributes: { name: `agent-${at}` } } };
      const replica = replicas[at % 2] as Harness;
      return (await replica.call('POST', '/agents', agent, agentToken)).data.id;
    }),
  );
});
afterAll(async () => {
  for (const replica of replicas) await replica[Symbol.asyncDispose]();
  await postgres[Symbol.asyncDispose]();
});

const makeWorkspace = async (name: string, extra: object = {}) => {
  const [first] = replicas;
  const { id } = await first.create(`${O}/workspaces`, 'workspaces', { name }, extra);
  const files = await first.create(
    `/workspaces/${id}/configuration-versions`,
    'configuration-versions',
    {},
  );
  await first.transfer('PUT', String(files.attributes['upload-url']), gzipSync('files'));
  return id;
};

describe('runs over two replicas', () => {
  test('are claimed by exactly one agent each', async () => {
    const workspaceIds = [await makeWorkspace('one'), await makeWorkspace('two')];
    const replies = await Promise.all(
      agentIds.map((id, at) =>
        (replicas[at % 2] as Harness).call(
          'POST',
          '/agent-runs/actions/claim',
          { data: { type: 'agents', id } },
          agentToken,
        ),
      ),
    );
    const claimed = replies.filter(({ status }) => status === 200).map(({ data }) => data.id);
    expect(new Set(claimed).size).toBe(2);
    expect(claimed).toHaveLength(2);
    for (const replica of replicas) {
      const counted = await replica.call('GET', `${O}/run-statistics?filter[window]=day`);
      const { created, 'queue-seconds': queued } = counted.data.attributes;
      expect([created, queued].map((values) => (values as number[]).at(-1))).toEqual([2, 0]);
    }
    for (const id of workspaceIds) {
      const shown = await replicas[1].call('GET', `/workspaces/${id}`);
      expect(shown.data.attributes['locked']).toBe(true);
    }
    const listed = await replicas[1].call('GET', `${O}/runs?filter[status]=planning`);
    expect(listed.list.map(({ id }) => id).toSorted()).toEqual(claimed.toSorted());
    const found = await replicas[1].call('GET', `${O}/runs?search[basic]=via%20api`);
    expect(found.list.map(({ id }) => id).toSorted()).toEqual(claimed.toSorted());
    const queue = await replicas[1].call('GET', `${O}/runs/queue`);
    expect(queue.list.map(({ id }) => id).toSorted()).toEqual(claimed.toSorted());
    const agents = await replicas[1].call('GET', `/agent-pools/${poolId}/agents?page[size]=100`);
    const busy = agents.list.filter(({ attributes }) => attributes['status'] === 'busy');
    expect(busy).toHaveLength(2);
  });

  test('are executed in the order of creation, even if clocks differ', async () => {
    const [first, second] = replicas;
    const id = await makeWorkspace('ordered');
    const relationships = { workspace: { data: { type: 'workspaces', id } } };
    first.clock.advance(1000);
    const made: string[] = [];
    for (const replica of [first, second, first]) {
      made.push((await replica.create('/runs', 'runs', {}, { relationships })).id);
    }
    second.clock.advance(1000);
    const { list } = await second.call('GET', `${O}/runs?filter[workspace_names]=ordered`);
    expect(list.map((run) => run.id).slice(0, 3)).toEqual(made.toReversed());
  });

  test('destroy a due workspace only once, and delete old states together', async () => {
    const [first] = replicas;
    const due = await Promise.all(['due-1', 'due-2', 'due-3'].map((name) => makeWorkspace(name)));
    const policy = {
      type: 'data-retention-policy-delete-olders',
      attributes: { deleteOlderThanNDays: 1 },
    };
    const soon = { 'auto-destroy-at': new Date(first.clock.nowMs() + DAY_MS).toISOString() };
    for (const id of due) {
      const states = uploadsTo(first, id);
      await states.lock();
      for (const serial of [1, 2, 3, 4]) await states.upload(serial);
      await states.unlock();
      const path = `/workspaces/${id}`;
      const kept = `${path}/relationships/data-retention-policy`;
      expect((await first.call('POST', kept, { data: policy })).status).toBe(200);
      await first.call('PATCH', path, { data: { type: 'workspaces', attributes: soon } });
    }
    for (const replica of replicas) replica.clock.advance(2 * DAY_MS);
    await Promise.all([...replicas, ...replicas].map((replica) => replica.runUpkeep()));
    for (const [at, id] of due.entries()) {
      const made = (await first.call('GET', `/workspaces/${id}/runs`)).list;
      expect(made.filter(({ attributes }) => attributes['is-destroy'] === true)).toHaveLength(1);
      const states = await first.call(
        'GET',
        `/state-versions?filter[workspace][name]=due-${at + 1}&filter[organization][name]=acme`,
      );
      expect(
        states.list.map(({ attributes }) => [attributes['serial'], attributes['status']]),
      ).toEqual([
        [4, 'finalized'],
        ...[3, 2, 1].map((serial) => [serial, 'backing_data_soft_deleted']),
      ]);
    }
  });

  test('include auto-destroy runs, and are listed for everyone who can see their workspace', async () => {
    const [first, second] = replicas;
    const project = await first.create(`${O}/projects`, 'projects', {
      name: 'Short lived',
      'auto-destroy-activity-duration': '1h',
    });
    const relationships = { project: { data: { type: 'projects', id: project.id } } };
    const id = await makeWorkspace('heir', { relationships });
    for (const replica of replicas) replica.clock.advance(3_600_000);
    await Promise.all(replicas.map((replica) => replica.runUpkeep()));
    const shown = await second.call('GET', `/workspaces/${id}`);
    expect(shown.data.attributes['auto-destroy-status']).toBe('nothing-to-destroy');
    const team = await first.create(`${O}/teams`, 'teams', { name: 'readers' });
    await first.create(
      '/team-workspaces',
      'team-workspaces',
      { access: 'read' },
      {
        relationships: {
          team: { data: { type: 'teams', id: team.id } },
          workspace: { data: { type: 'workspaces', id } },
        },
      },
    );
    const { token } = await first.addUser('reader', team.id);
    const { list, meta } = await second.call('GET', `${O}/runs`, undefined, token);
    expect(meta.pagination['total-count']).toBe(1);
    expect(list.map(({ relationships: related }) => related['workspace']?.data)).toEqual([
      { id, type: 'workspaces' },
    ]);
  });
});
