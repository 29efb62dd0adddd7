/**
 * Phases that the built-in runner takes. With the real tool: conformance/terraform/built-in-runner.test.ts.
 *
 * | asked                                              | answer                                              |
 * | -------------------------------------------------- | --------------------------------------------------- |
 * | claim, a run of mode remote waits                  | 200, with the newest release that satisfies it      |
 * | claim, runs of several organizations wait          | these take turns, so that none keeps others waiting |
 * | claim, none waits                                  | 204                                                 |
 * | claim, a waiting run cannot be read                | 200 with the next one                               |
 * | claim by any other caller                          | 404; 401 without a token                            |
 * | claim, while an agent of the organization is there | 204; the agent takes it                             |
 * | the token of the runner on any other route         | 404                                                 |
 * | `PATCH /agents/:id` with `exited`, or silence      | the run is errored, its log says so                 |
 * | `POST /runs`, mode remote                          | 201 with the runner, 422 without it                 |
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { archiveOf } from '../../../test/configuration-archive.ts';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';

const TOKEN = 'a-token-of-the-built-in-runner-for-tests';
const MINUTE_MS = 60_000;
let harness: Harness;
let serial = 0;

beforeAll(async () => {
  harness = await startHarness({ config: { runnerToken: TOKEN } });
});
afterAll(() => harness[Symbol.asyncDispose]());

const makeOrganization = async (): Promise<string> => {
  const name = `organization-${(serial += 1)}`;
  await harness.create('/organizations', 'organizations', { name, email: 'a@b.example' });
  return name;
};
const makeWorkspace = async (organization: string, values: object = {}) => {
  const path = `/organizations/${organization}/workspaces`;
  const name = `app-${(serial += 1)}`;
  const { id } = await harness.create(path, 'workspaces', { name, ...values });
  const version = await harness.create(
    `/workspaces/${id}/configuration-versions`,
    'configuration-versions',
    { 'auto-queue-runs': false },
  );
  const url = String(version.attributes['upload-url']);
  await harness.transfer('PUT', url, await archiveOf({ 'main.tf': '' }));
  return id;
};
const queue = async (workspaceId: string): Promise<string> => {
  const relationships = { workspace: { data: { type: 'workspaces', id: workspaceId } } };
  return (await harness.create('/runs', 'runs', {}, { relationships })).id;
};
const claim = (versions: readonly string[] = ['1.5.7', '1.11.4'], token: string | null = TOKEN) => {
  const attributes = { name: 'runner-1', version: '0.1.0', 'runtime-versions': versions };
  const body = { data: { type: 'agents', attributes } };
  return harness.call('POST', '/runner/actions/claim', body, token);
};
const agentIdOf = ({ data }: Awaited<ReturnType<typeof claim>>): string =>
  (data.relationships['agent'] as { readonly data: { readonly id: string } }).data.id;
const ping = (agentId: string, status?: string) =>
  harness.call(
    'PATCH',
    `/agents/${agentId}`,
    { data: { type: 'agents', attributes: status === undefined ? {} : { status } } },
    TOKEN,
  );
const statusOf = async (runId: string) =>
  (await harness.call('GET', `/runs/${runId}`)).data.attributes['status'];
const logOf = async (runId: string): Promise<string> => {
  const plan = await harness.call('GET', `/plans/${runId.replace('run-', 'plan-')}`);
  return (await harness.transfer('GET', String(plan.data.attributes['log-read-url']))).text;
};
const end = async (claimed: Awaited<ReturnType<typeof claim>>) => {
  const body = { data: { type: 'agent-runs', attributes: { status: 'errored' } } };
  const token = String(claimed.data.attributes['token']);
  const { status } = await harness.call('PATCH', `/agent-runs/${claimed.data.id}`, body, token);
  expect(status).toBe(204);
};

describe('the built-in runner', () => {
  test('executes other runs while one, or the record of the turns, cannot be read', async () => {
    const lost = await queue(await makeWorkspace(await makeOrganization()));
    const kept = await queue(await makeWorkspace(await makeOrganization()));
    const paths = [`shared/runs/${lost}`, 'shared/runner-turns/organizations'];
    const records = await harness.store.stored.read(paths);
    const damaged = paths.map((path) => ({ path, stored: Buffer.from([0]) }));
    await harness.store.applyRecords('damage', damaged);
    const claimed = await claim();
    expect(claimed.data.id).toBe(kept);
    await end(claimed);
    expect((await claim()).status).toBe(204);
    await harness.store.applyRecords('repair', records);
    await end(await claim());
    expect(await statusOf(lost)).toBe('errored');
  });

  test('executes the runs of every organization, each with a separate agent', async () => {
    const one = await queue(await makeWorkspace(await makeOrganization()));
    const two = await queue(await makeWorkspace(await makeOrganization()));
    const claims = [await claim(), await claim()];
    expect(claims.map(({ data }) => data.id)).toEqual([one, two]);
    expect((await claim()).status).toBe(204);
    const [first, second] = claims.map(agentIdOf);
    expect(first).not.toBe(second);
    const plan = await harness.call('GET', `/plans/${one.replace('run-', 'plan-')}`);
    expect(plan.data.attributes['execution-details']).toEqual({ mode: 'remote' });
    // Not even its organization's owners see it.
    expect((await harness.call('GET', `/agents/${first}`)).status).toBe(404);
    for (const claimed of claims) await end(claimed);
    expect((await ping(first ?? '')).status).toBe(404);
  });

  test('lets organizations take turns, and takes the oldest run of each', async () => {
    const [busy, other] = [await makeOrganization(), await makeOrganization()];
    const ofBusy: string[] = [];
    for (let left = 3; left > 0; left -= 1) ofBusy.push(await queue(await makeWorkspace(busy)));
    const ofOther: string[] = [];
    for (let left = 2; left > 0; left -= 1) ofOther.push(await queue(await makeWorkspace(other)));
    const order: string[] = [];
    for (let left = 5; left > 0; left -= 1) {
      const claimed = await claim();
      order.push(claimed.data.id);
      await end(claimed);
    }
    expect(order).toEqual([ofBusy[0], ofOther[0], ofBusy[1], ofOther[1], ofBusy[2]]);
  });

  test('learns which of its releases satisfies the workspace', async () => {
    const organization = await makeOrganization();
    const releaseFor = async (version: string, versions: readonly string[]) => {
      const id = await makeWorkspace(organization, { 'terraform-version': version });
      await queue(id);
      const claimed = await claim(versions);
      await end(claimed);
      const { attributes } = claimed.data;
      expect(attributes['runtime-version-constraint']).toBe(version);
      return attributes['runtime-version'];
    };
    expect(await releaseFor('latest', ['1.5.7', '1.12.0'])).toBe('1.12.0');
    expect(await releaseFor('~> 1.5.0', ['1.5.3', '1.5.7', '1.12.0'])).toBe('1.5.7');
    expect(await releaseFor('~> 1.5.0', ['1.12.0'])).toBeNull();
    expect(await releaseFor('latest', [])).toBeNull();
  });

  test('leaves runs to suitable agents of the organization', async () => {
    const organization = await makeOrganization();
    const pool = await harness.create(`/organizations/${organization}/agent-pools`, 'agent-pools', {
      name: 'own',
    });
    const tokens = `/agent-pools/${pool.id}/authentication-tokens`;
    const made = await harness.create(tokens, 'authentication-tokens', {});
    const poolToken = String(made.attributes['token']);
    const body = { data: { type: 'agents', attributes: { name: 'own' } } };
    const agent = await harness.call('POST', '/agents', body, poolToken);
    const runId = await queue(await makeWorkspace(organization));
    expect((await claim()).status).toBe(204);
    // Once that is gone, nobody else would take it.
    harness.clock.advance(MINUTE_MS);
    await harness.runUpkeep();
    const claimed = await claim();
    expect(claimed.data.id).toBe(runId);
    await end(claimed);
    expect((await ping(agent.data.id)).status).toBe(404);
  });

  test('leaves runs of a named pool to that pool', async () => {
    const organization = await makeOrganization();
    const pool = await harness.create(`/organizations/${organization}/agent-pools`, 'agent-pools', {
      name: 'named',
    });
    const mode = { 'execution-mode': 'agent', 'agent-pool-id': pool.id };
    const runId = await queue(await makeWorkspace(organization, mode));
    expect((await claim()).status).toBe(204);
    expect((await harness.call('POST', `/runs/${runId}/actions/cancel`)).status).toBe(202);
  });

  test('loses a phase when it reports a stop, or is silent for a minute', async () => {
    const organization = await makeOrganization();
    const workspaceId = await makeWorkspace(organization);
    const stopped = await queue(workspaceId);
    const first = await claim();
    expect((await ping(agentIdOf(first))).status).toBe(200);
    expect((await ping(agentIdOf(first), 'exited')).status).toBe(200);
    expect(await statusOf(stopped)).toBe('errored');
    expect(await logOf(stopped)).toContain('The built-in runner was stopped or restarted');
    const silent = await queue(workspaceId);
    const second = await claim();
    harness.clock.advance(MINUTE_MS);
    await harness.runUpkeep();
    expect(await statusOf(silent)).toBe('errored');
    expect(await logOf(silent)).toContain('The built-in runner, which had this phase, is silent.');
    const { data } = await harness.call('GET', `/workspaces/${workspaceId}`);
    expect(data.attributes['locked']).toBe(false);
    expect((await ping(agentIdOf(second))).status).toBe(404);
    const token = String(second.data.attributes['token']);
    expect((await harness.call('GET', `/agent-runs/${silent}`, undefined, token)).status).toBe(401);
  });

  test('has a token that opens nothing else, and no other client gets its phases', async () => {
    await queue(await makeWorkspace(await makeOrganization()));
    expect((await claim([], harness.adminToken)).status).toBe(404);
    expect((await claim([], null)).status).toBe(401);
    expect((await claim([], `${TOKEN}x`)).status).toBe(401);
    expect((await harness.call('GET', '/organizations', undefined, TOKEN)).status).toBe(404);
    await end(await claim());
  });

  test('makes remote operations available, and `latest` the default release of new workspaces', async () => {
    const organization = await makeOrganization();
    const path = `/organizations/${organization}/entitlement-set`;
    const entitled = async (from: Harness) =>
      (await from.call('GET', path)).data.attributes['operations'];
    expect(await entitled(harness)).toBe(true);
    const id = await makeWorkspace(organization);
    const { data } = await harness.call('GET', `/workspaces/${id}`);
    expect(data.attributes['terraform-version']).toBe('latest');
  });
});
