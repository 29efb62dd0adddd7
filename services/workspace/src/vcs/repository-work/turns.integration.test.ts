/** Organizations take turns at their providers. */
import type { ServerResponse } from 'node:http';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startRepositoryHarness } from '../../../test/repository-harness.ts';
import { queueRepositoryWork } from '../../workspaces/model/repository-records.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';

const LIMIT = 20;

const repositories = await startRepositoryHarness({
  limits: { repositoryWork: LIMIT },
});
const {
  harness,
  server,
  createClient,
  connect,
  repositoryOf,
  deliver,
  deliverTo,
  hookOf,
  pushed,
  logOf,
  reset,
} = repositories;
afterAll(() => repositories[Symbol.asyncDispose]());
beforeEach(reset);

describe('an organization with much work at its providers', () => {
  /** Reports about runs that are gone, which are due now. */
  const queueReports = async (count: number) => {
    const { organizationId = '' } =
      (await workspaceRecords.find(harness.store, (await connect()).id)) ?? {};
    await harness.store.transact(async (tx) => {
      for (let index = 0; index < count; index += 1) {
        const work = { kind: 'report', runId: 'run-none' } as const;
        const dueAtMs = harness.clock.nowMs();
        queueRepositoryWork(tx, organizationId, work, { dueAtMs, name: `many-${index}` });
      }
    });
  };

  test('does not delay another', async () => {
    const { id, identifier, first } = await connect();
    await harness.runUpkeep();
    const held = Promise.withResolvers<ServerResponse>();
    const asked = Promise.withResolvers<void>();
    server.beforeGit = (request, response) => {
      const isSlow = request.url?.includes(`/${identifier}.git`) === true;
      if (isSlow) held.resolve(response);
      if (request.url?.includes('/globex/') === true) asked.resolve();
      return isSlow;
    };
    // One provider does not answer, and much more waits for it than is looked at in a round.
    await deliver(id, pushed('refs/heads/main', first));
    harness.clock.advance(1);
    await queueReports(1000);
    harness.clock.advance(1);
    await harness.create('/organizations', 'organizations', {
      name: 'globex',
      email: 'a@b.example',
    });
    await server.commit('globex/infra', { 'main.tf': '' });
    const client = await createClient('token-of-globex', '/organizations/globex');
    const repository = { identifier: 'globex/infra', 'oauth-token-id': client.tokenId };
    const attributes = { name: 'other', 'vcs-repo': repository };
    await harness.create('/organizations/globex/workspaces', 'workspaces', attributes);
    const upkeep = harness.runUpkeep();
    await Promise.all([held.promise, asked.promise]);
    (await held.promise).writeHead(500).end();
    await upkeep;
    expect((await repositoryOf(id))['problem']).toContain('500');
  });

  test('gets its further deliveries refused until some of it is done', async () => {
    const { id, first } = await connect();
    await harness.runUpkeep();
    await queueReports(LIMIT);
    const refused = await deliver(id, pushed('refs/heads/main', first));
    expect([refused.status, refused.errors[0]?.detail]).toEqual([
      429,
      expect.stringContaining(`already has ${LIMIT} pieces of work`),
    ]);
    expect(await logOf(id)).toEqual([]);
    await harness.runUpkeep();
    expect((await deliver(id, pushed('refs/heads/main', first))).status).toBe(202);
  });
});

test('an organization that is off gets its deliveries refused, and its work waits until it is on', async () => {
  const { id, identifier, first } = await connect();
  await harness.runUpkeep();
  const turn = async (isDisabled: boolean) => {
    const { status } = await harness.call('PATCH', '/admin/organizations/acme', {
      data: { type: 'organizations', attributes: { 'is-disabled': isDisabled } },
    });
    expect(status).toBe(200);
  };
  const fetched: string[] = [];
  server.beforeGit = ({ url = '' }) => {
    fetched.push(url);
    return false;
  };
  expect((await deliver(id, pushed('refs/heads/main', first))).status).toBe(202);
  const hook = await hookOf(id);
  await turn(true);
  const refused = await deliverTo(hook, pushed('refs/heads/other', first));
  expect([refused.status, refused.errors[0]?.detail]).toEqual([
    403,
    expect.stringContaining('the organization acme is disabled'),
  ]);
  await harness.runUpkeep();
  expect(fetched).toEqual([]);
  await turn(false);
  await harness.runUpkeep();
  expect(fetched[0]).toContain(identifier);
});
