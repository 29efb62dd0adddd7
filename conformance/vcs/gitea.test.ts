/** A real Gitea: its webhooks, its git, its commit statuses; runs are executed by the reference agent. */
import { publicAddress } from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AgentProcess, createPool, startAgent } from '../terraform/agent-process.ts';
import {
  type Answer,
  configuration,
  type Installation,
  install,
} from '../terraform/terraform-cli.ts';
import { type GiteaServer, startGitea } from './gitea-server.ts';

const SLOW_MS = 240_000;
const WAIT = { timeout: 120_000, interval: 250 };

describe('Gitea', { timeout: SLOW_MS }, () => {
  let gitea: GiteaServer;
  let installation: Installation;
  let agent: AgentProcess;
  let poolId = '';
  let tokenId = '';

  beforeAll(async () => {
    gitea = await startGitea();
    installation = await install({
      KEELSON_OUTBOUND_RANGES: '127.0.0.1',
      ...(await publicAddress()),
    });
    const pool = await createPool(installation, 'agents');
    ({ poolId } = pool);
    agent = await startAgent(installation, pool, await installation.folder('agent'));
    await agent.said('registered as');
    const client = await installation.call('POST', '/organizations/acme/oauth-clients', {
      data: {
        type: 'oauth-clients',
        attributes: {
          'service-provider': 'gitea',
          'http-url': gitea.url,
          'api-url': `${gitea.url}/api/v1`,
          'oauth-token-string': gitea.token,
        },
      },
    });
    const tokens = client.data.relationships?.['oauth-tokens']?.data as { id: string }[];
    tokenId = tokens[0]?.id ?? '';
  }, SLOW_MS);
  afterAll(async () => {
    await agent.stop();
    await installation[Symbol.asyncDispose]();
    await gitea[Symbol.asyncDispose]();
  }, SLOW_MS);

  const attributesOf = async (path: string) =>
    (await installation.call('GET', path)).data.attributes;
  const runsPath = (workspaceId: string): string =>
    `/workspaces/${workspaceId}/runs?filter[operation]=plan_and_apply,plan_only`;
  const runsOf = async (workspaceId: string): Promise<readonly Answer['data'][]> =>
    (await installation.call('GET', runsPath(workspaceId))).list;
  const statusesOf = async (repository: string, sha: string) =>
    (
      await gitea.api<{ status: string; target_url: string }[]>(
        'GET',
        `/repos/ada/${repository}/commits/${sha}/statuses?limit=50`,
      )
    ).map(({ status }) => status);
  /** Gitea learns of a pushed branch in the background. */
  const untilBranch = (repository: string, branch: string) =>
    expect
      .poll(
        () =>
          gitea.api('GET', `/repos/ada/${repository}/branches/${branch}`).catch(() => undefined),
        WAIT,
      )
      .toBeDefined();
  const connect = async (repository: string, attributes: object = {}, vcs: object = {}) => {
    const made = await installation.call('POST', '/organizations/acme/workspaces', {
      data: {
        type: 'workspaces',
        attributes: {
          name: repository,
          'execution-mode': 'agent',
          'agent-pool-id': poolId,
          'queue-all-runs': true,
          ...attributes,
          'vcs-repo': { identifier: `ada/${repository}`, 'oauth-token-id': tokenId, ...vcs },
        },
      },
    });
    expect(made.status).toBe(201);
    const { id } = made.data;
    await expect
      .poll(() => gitea.api<unknown[]>('GET', `/repos/ada/${repository}/hooks`), WAIT)
      .toHaveLength(1);
    return id;
  };
  const countRuns = (workspaceId: string, count: number) =>
    installation.until(runsPath(workspaceId), ({ list }) => list.length === count);
  const untilStatus = (run: { readonly id: string } | undefined, status: RegExp) =>
    installation.until(`/runs/${run?.id}`, ({ data }) =>
      status.test(String(data.attributes['status'])),
    );

  test('a push is planned, confirmed and applied, and its commit shows it', async () => {
    await gitea.push('infra', { 'main.tf': configuration('first') });
    const id = await connect('infra');
    await countRuns(id, 1);
    const sha = await gitea.push('infra', { 'main.tf': configuration('second') });
    await countRuns(id, 2);
    const [run, initial] = await runsOf(id);
    await untilStatus(initial, /^planned$/);
    await installation.call('POST', `/runs/${initial?.id}/actions/discard`, {});
    await untilStatus(run, /^planned$/);
    expect(run?.attributes['message']).toBe('Change main.tf');
    await expect.poll(() => statusesOf('infra', sha), WAIT).toContain('pending');
    await installation.call('POST', `/runs/${run?.id}/actions/apply`, {});
    await untilStatus(run, /^applied$/);
    await expect.poll(() => statusesOf('infra', sha), WAIT).toContain('success');
    const path = '/organizations/acme/workspaces/infra';
    expect((await attributesOf(path))['resource-count']).toBe(1);
  });

  test('a pull request is planned only, a tag runs where tags are followed', async () => {
    await gitea.push('tagged', { 'main.tf': configuration('first') });
    const branchId = await connect('tagged');
    await countRuns(branchId, 1);
    const sha = await gitea.push('tagged', { 'main.tf': configuration('topic') }, 'topic');
    await untilBranch('tagged', 'topic');
    await gitea.api('POST', '/repos/ada/tagged/pulls', {
      title: 'Another input',
      head: 'topic',
      base: 'main',
    });
    await expect.poll(() => statusesOf('tagged', sha), WAIT).toContain('success');
    const [planned] = await runsOf(branchId);
    expect(planned?.attributes).toMatchObject({
      'plan-only': true,
      status: 'planned_and_finished',
      message: 'Another input',
    });

    const change = { 'vcs-repo': { 'tags-regex': '^v' }, 'file-triggers-enabled': false };
    const data = { type: 'workspaces', attributes: change };
    expect((await installation.call('PATCH', `/workspaces/${branchId}`, { data })).status).toBe(
      200,
    );
    await gitea.git('tagged', 'tag', 'v1');
    await gitea.git('tagged', 'push', '--quiet', 'origin', 'v1');
    await countRuns(branchId, 3);
  });

  // Whoever may read a repository can offer commits in this way.
  test('a pull request without a branch starts nothing', async () => {
    await gitea.push('offered', { 'main.tf': configuration('first') });
    const id = await connect('offered');
    await countRuns(id, 1);
    await gitea.git('offered', 'commit', '--quiet', '--allow-empty', '--message=Offer');
    const offer = ['HEAD:refs/for/main', '--push-option=topic=offer'];
    await untilBranch('offered', 'main');
    await gitea.git('offered', 'push', '--quiet', 'origin', ...offer);
    const deliveries = `/workspaces/${id}/repository-deliveries`;
    // A delivery is listed before it has been worked on.
    await installation.until(deliveries, ({ list }) =>
      list.some(
        ({ attributes: { event, outcome } }) => event === 'pull_request' && outcome === 'ignored',
      ),
    );
    expect(await runsOf(id)).toHaveLength(1);
  });

  test('a submodule is fetched', async () => {
    const inner = await gitea.push('inner', { 'variables.tf': 'output "inner" { value = 1 }' });
    await gitea.push('outer', {
      'main.tf': 'module "inner" { source = "./modules/inner" }',
      '.gitmodules': '[submodule "inner"]\n\tpath = modules/inner\n\turl = ../inner.git\n',
    });
    const link = `160000,${inner},modules/inner`;
    await gitea.git('outer', 'update-index', '--add', '--cacheinfo', link);
    await gitea.git('outer', 'commit', '--quiet', '--message=link');
    await gitea.git('outer', 'push', '--quiet', 'origin', 'main');
    const id = await connect('outer', {}, { 'ingress-submodules': true });
    await countRuns(id, 1);
    const [run] = await runsOf(id);
    const planned = await untilStatus(run, /^planned/);
    expect(planned.data.id).toBe(run?.id);
  });

  test('nothing is lost while Gitea is down, and its webhook goes with the workspace', async () => {
    await gitea.push('flaky', { 'main.tf': configuration('first') });
    const id = await connect('flaky');
    await countRuns(id, 1);
    await gitea.process.stop();
    const data = { type: 'workspaces', attributes: { 'vcs-repo': { branch: 'topic' } } };
    await installation.call('PATCH', `/workspaces/${id}`, { data });
    const untilProblem = (isWanted: (problem: string | null) => boolean) =>
      installation.until(`/workspaces/${id}`, ({ data }) =>
        isWanted((data.attributes['vcs-repo'] as { problem: string | null }).problem),
      );
    await untilProblem((problem) => problem?.includes('ECONNREFUSED') === true);
    await gitea.process.start();
    await gitea.push('flaky', { 'main.tf': configuration('topic') }, 'topic');
    await untilProblem((problem) => problem === null);
    await countRuns(id, 2);
    await installation.call('DELETE', `/workspaces/${id}`);
    await expect
      .poll(() => gitea.api<unknown[]>('GET', '/repos/ada/flaky/hooks'), WAIT)
      .toHaveLength(0);
  });
});
