/**
 * A repository that only the reference agent reaches: the control plane may not call its address. The agent fetches
 * with the real git and sends requests to the provider's API; the provider itself sends the webhooks.
 */
import { createHmac } from 'node:crypto';
import { publicAddress, startRepositoryServer } from '@keelson/testkit';
import { expect, test } from 'vitest';
import { createPool, startAgent } from './agent-process.ts';
import { configuration, install } from './terraform-cli.ts';

const SLOW_MS = 240_000;
const WAIT = { timeout: 120_000, interval: 250 };

test('a push to a repository that only an agent reaches is applied, and its commit shows it', {
  timeout: SLOW_MS,
}, async () => {
  await using repositories = await startRepositoryServer();
  await using installation = await install(await publicAddress());
  const pool = await createPool(installation, 'inside');
  const agent = await startAgent(installation, pool, await installation.folder('inside'));
  await agent.said('registered as');
  const client = await installation.call('POST', '/organizations/acme/oauth-clients', {
    data: {
      type: 'oauth-clients',
      attributes: {
        'service-provider': 'github_enterprise',
        'http-url': repositories.url,
        'api-url': `${repositories.url}/api`,
        'oauth-token-string': 'token-of-the-provider',
      },
      relationships: { 'agent-pool': { data: { type: 'agent-pools', id: pool.poolId } } },
    },
  });
  const tokens = client.data.relationships?.['oauth-tokens']?.data as { id: string }[];
  await repositories.commit('acme/infra', { 'main.tf': configuration('first') });
  const workspace = await installation.call('POST', '/organizations/acme/workspaces', {
    data: {
      type: 'workspaces',
      attributes: {
        name: 'private',
        'execution-mode': 'agent',
        'agent-pool-id': pool.poolId,
        'queue-all-runs': true,
        'auto-apply': true,
        'vcs-repo': { identifier: 'acme/infra', 'oauth-token-id': tokens[0]?.id },
      },
    },
  });
  const untilApplied = (count: number) =>
    installation.until(
      `/workspaces/${workspace.data.id}/runs`,
      ({ list }) => list.length === count && list[0]?.attributes['status'] === 'applied',
    );
  await untilApplied(1);

  const registered = repositories.calls.find(({ path }) => path.endsWith('/hooks'));
  const hook = registered?.body['config'] as { url: string; secret: string };
  const after = await repositories.commit('acme/infra', { 'main.tf': configuration('second') });
  const body = JSON.stringify({ ref: 'refs/heads/main', before: '0'.repeat(40), after });
  const signature = createHmac('sha256', hook.secret).update(body).digest('hex');
  const delivered = await fetch(`${installation.http}${new URL(hook.url).pathname}`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-github-delivery': 'one',
      'x-hub-signature-256': `sha256=${signature}`,
    },
  });
  expect(delivered.status).toBe(202);
  const { list: runs } = await untilApplied(2);
  expect(runs[0]?.attributes['message']).toBe('Change main.tf');
  const states = () =>
    repositories.calls
      .filter(({ path }) => path.endsWith(`/statuses/${after}`))
      .map((call) => call.body['state']);
  await expect.poll(states, WAIT).toContain('success');
  await agent.stop();
});
