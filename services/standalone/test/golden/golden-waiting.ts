/**
 * Work that goes on in the background, in an organization of its own: what is read of it changes as soon as a process
 * opens the store, so that only settings are compared.
 */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startLinkedServer } from '@keelson/testkit';
import { until } from '@keelson/testkit/addressed-cluster';
import {
  addPlannedRun,
  configurationWith,
  type PlannedRun,
  type RunSite,
} from '@keelson/testkit/planned-run';
import { type GoldenCalls, type GoldenRead, one, reads, resource, upload } from './golden-calls.ts';
import { stateOf } from './golden-workspaces.ts';

const WAITING = 'organizations/waiting';

/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9';

/** Accepts the verification, and is gone when there is something to send. */
const makeNotification = async (
  { api }: GoldenCalls,
  { workspaceId }: PlannedRun,
): Promise<void> => {
  await using server = createServer((_request, response) => response.end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  await api(
    'POST',
    `workspaces/${workspaceId}/notification-configurations`,
    resource('notification-configurations', {
      name: 'unreachable',
      'destination-type': 'generic',
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      enabled: true,
      triggers: ['run:applying', 'workspace:auto_destroy_reminder'],
    }),
  );
};

/** A run that an agent is applying. */
const makeBusyRun = async (calls: GoldenCalls, http: string): Promise<void> => {
  const { api } = calls;
  const site: RunSite = { origin: () => http, workspaces: api };
  const run = await addPlannedRun(site, 'busy', { organization: 'waiting' });
  await makeNotification(calls, run);
  const workspace = `workspaces/${run.workspaceId}`;
  await api('PATCH', workspace, resource('workspaces', { 'assessments-enabled': true }));
  const announced = await api(
    'POST',
    `${workspace}/configuration-versions`,
    resource('configuration-versions', { 'auto-queue-runs': false }),
  );
  // The received part of a refused upload is removed later.
  await upload(http, announced, Buffer.from('no archive'));
  await api('POST', `runs/${run.runId}/actions/apply`);
  await run.claim();
};

const makeRetention = async ({ api }: GoldenCalls): Promise<void> => {
  const type = 'data-retention-policy-delete-olders';
  await api(
    'POST',
    `${WAITING}/relationships/data-retention-policy`,
    resource(type, { deleteRunDataAndLogs: true, runDataAndLogsDeleteAfterNDays: 36_500 }),
  );
  await api(
    'POST',
    'admin/data-retention-policy-settings',
    resource(type, { deleteOlderThanNDays: 36_500 }),
  );
};

/** Connects a workspace to a repository at a provider that is not there, or that only agents reach. */
const connect = async (
  { api }: GoldenCalls,
  name: string,
  poolId: string,
  relationships: object,
): Promise<void> => {
  const client = await api(
    'POST',
    `${WAITING}/oauth-clients`,
    resource(
      'oauth-clients',
      {
        'service-provider': 'github',
        'http-url': NOWHERE,
        'api-url': `${NOWHERE}/api`,
        'oauth-token-string': 'golden',
      },
      relationships,
    ),
  );
  await api(
    'POST',
    `${WAITING}/workspaces`,
    resource('workspaces', {
      name,
      'execution-mode': 'agent',
      'agent-pool-id': poolId,
      'vcs-repo': {
        identifier: `golden/${name}`,
        'oauth-token-id': client.data.relationships['oauth-tokens'].data[0].id,
      },
    }),
  );
};

/** Reports a push as the provider does. */
const deliverPush = async (http: string, url: string, secret: string): Promise<void> => {
  const body = JSON.stringify({
    ref: 'refs/heads/main',
    before: '0'.repeat(40),
    after: 'a'.repeat(40),
    compare: `${NOWHERE}/compare`,
    sender: { login: 'ada', avatar_url: null, html_url: `${NOWHERE}/ada` },
  });
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const answer = await fetch(`${http}${new URL(url).pathname}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-github-delivery': 'golden',
      'x-hub-signature-256': `sha256=${signature}`,
    },
    body,
  });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
};

/** Work at repositories: some that is tried again, some that an agent has, and a delivery. */
const makeRepositoryWork = async (calls: GoldenCalls, http: string): Promise<void> => {
  const { api } = calls;
  const { data: pools } = await api('GET', `${WAITING}/agent-pools`);
  const poolId: string = pools[0].id;
  const made = await api(
    'POST',
    `agent-pools/${poolId}/authentication-tokens`,
    resource('authentication-tokens', {}),
  );
  const token: string = made.data.attributes.token;
  const agent = await api('POST', 'agents', resource('agents', { name: 'repositories' }), token);
  const claim = () =>
    until(
      () => api('POST', 'agent-repository-work/actions/claim', one('agents', agent.data.id), token),
      (answer) => answer !== undefined,
    );
  await connect(calls, 'direct', poolId, {});
  await connect(calls, 'behind-agents', poolId, { 'agent-pool': one('agent-pools', poolId) });
  const registration = await claim();
  const { url, secret } = JSON.parse(registration.data.attributes.body).config;
  await api(
    'PATCH',
    `agent-repository-work/${registration.data.id}`,
    resource('agent-repository-work', {
      status: 'finished',
      'answer-status': 201,
      'answer-body': '{"id":7}',
    }),
    token,
  );
  await deliverPush(http, url, secret);
  await claim();
};

/** A person who was sent to a provider, and has not come back. */
const beginAuthorization = async ({ api }: GoldenCalls): Promise<void> => {
  await using provider = await startLinkedServer();
  const client = await api(
    'POST',
    `${WAITING}/oauth-clients`,
    resource('oauth-clients', {
      'service-provider': 'bitbucket_data_center',
      'http-url': provider.url,
      'api-url': provider.url,
      key: provider.consumerKey,
      secret: provider.privateKey,
      'rsa-public-key': provider.publicKey,
    }),
  );
  await api('POST', `oauth-clients/${client.data.id}/actions/begin-authorization`);
};

/** A workspace that waits for an agent to assess it. */
const makeAssessment = async ({ api }: GoldenCalls, http: string): Promise<void> => {
  const { data: pools } = await api('GET', `${WAITING}/agent-pools`);
  const attributes = {
    name: 'assessed',
    'assessments-enabled': true,
    'execution-mode': 'agent',
    'agent-pool-id': pools[0].id,
  };
  const made = await api('POST', `${WAITING}/workspaces`, resource('workspaces', attributes));
  const workspace = `workspaces/${made.data.id}`;
  await api('POST', `${workspace}/actions/lock`, { reason: 'golden' });
  await api('POST', `${workspace}/state-versions`, stateOf(1));
  await api('POST', `${workspace}/actions/unlock`);
  const announced = await api(
    'POST',
    `${workspace}/configuration-versions`,
    resource('configuration-versions', { 'auto-queue-runs': false }),
  );
  await upload(http, announced, configurationWith('main.tf', ''));
  await api('POST', `${workspace}/actions/assess`);
};

/** Drains the organization, and switches one of its agent pools and one of its OAuth clients off. */
const turnSwitches = async ({ api }: GoldenCalls): Promise<void> => {
  for (const type of ['agent-pools', 'oauth-clients']) {
    const { data: parts } = await api('GET', `${WAITING}/${type}`);
    await api('PATCH', `admin/${type}/${parts[0].id}`, resource(type, { 'is-disabled': true }));
  }
  const draining = resource('organizations', { 'is-draining': true });
  await api('PATCH', `admin/${WAITING}`, draining);
};

export const makeWaitingWork = async (
  calls: GoldenCalls,
  http: string,
): Promise<readonly GoldenRead[]> => {
  await makeBusyRun(calls, http);
  await makeRetention(calls);
  await makeRepositoryWork(calls, http);
  await makeAssessment(calls, http);
  await beginAuthorization(calls);
  await turnSwitches(calls);
  return reads('api', 'GET', [
    WAITING,
    `${WAITING}/relationships/data-retention-policy`,
    'admin/data-retention-policy-settings',
  ]);
};
