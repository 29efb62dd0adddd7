/** Workspaces with repositories at a server that answers as GitHub does, and its deliveries. */
import { createHmac } from 'node:crypto';
import { startRepositoryServer } from '@keelson/testkit';
import { findRepositoryHookById } from '../src/workspaces/model/repository-records.ts';
import { startRunHarness } from './run-harness.ts';
import type { HarnessOptions, Identified } from './workspace-harness.ts';

const O = '/organizations/acme';

export interface Sending {
  readonly event?: string;
  readonly secret?: string;
  readonly deliveryId?: string;
}

export const startRepositoryHarness = async (options: HarnessOptions = {}) => {
  const server = await startRepositoryServer();
  const config = { outboundRanges: ['127.0.0.1'], ...options.config };
  const runs = await startRunHarness({ ...options, config });
  const { harness } = runs;
  let serial = 0;
  let deliveries = 0;
  const newIdentifier = () => `acme/repo-${(serial += 1)}`;
  /** @param poolId agents by which alone the server is reached */
  const createClient = async (token: string, organization = O, poolId?: string) => {
    const attributes = {
      'service-provider': 'github',
      'http-url': server.url,
      'api-url': `${server.url}/api`,
      'oauth-token-string': token,
    };
    const pool = { 'agent-pool': { data: { type: 'agent-pools', id: poolId } } };
    const client = await harness.create(
      `${organization}/oauth-clients`,
      'oauth-clients',
      attributes,
      poolId === undefined ? {} : { relationships: pool },
    );
    const made = client.relationships['oauth-tokens']?.data as { id: string }[] | undefined;
    return { id: client.id, tokenId: made?.[0]?.id ?? '' };
  };

  const createWorkspace = async (
    name: string,
    identifier: string,
    attributes: object,
    repository: object,
  ) =>
    (
      await harness.create(`${O}/workspaces`, 'workspaces', {
        name: `${name}-${serial}`,
        'execution-mode': 'agent',
        'agent-pool-id': runs.poolId,
        ...attributes,
        'vcs-repo': { identifier, 'oauth-token-id': tokenId, ...repository },
      })
    ).id;

  /** A new repository with one commit, and a workspace that is connected to it. */
  const connect = async (attributes: object = {}, repository: object = {}) => {
    const identifier = newIdentifier();
    const first = await server.commit(identifier, { 'main.tf': '1' });
    const id = await createWorkspace('connected', identifier, attributes, repository);
    return { identifier, first, id };
  };

  const repositoryOf = async (workspaceId: string) =>
    (await runs.workspaceOf(workspaceId)).attributes['vcs-repo'] as Record<string, string | null>;
  const hookOf = async (workspaceId: string) => {
    const url = (await repositoryOf(workspaceId))['webhook-url'] ?? '';
    return findRepositoryHookById(harness.store, url.split('/').at(-1) ?? '');
  };

  /** Delivers a payload as GitHub does. */
  const deliverTo = (
    hook: Awaited<ReturnType<typeof hookOf>>,
    payload: object,
    sending: Sending = {},
  ) => {
    const body = JSON.stringify(payload);
    const signature = createHmac('sha256', sending.secret ?? hook?.secret ?? '').update(body);
    return harness.call('POST', `/webhooks/repositories/${hook?.id}`, payload, null, {
      'content-type': 'application/json',
      'x-github-event': sending.event ?? 'push',
      'x-github-delivery': sending.deliveryId ?? `delivery-${(deliveries += 1)}`,
      'x-hub-signature-256': `sha256=${signature.digest('hex')}`,
    });
  };
  const deliver = async (workspaceId: string, payload: object, sending: Sending = {}) =>
    deliverTo(await hookOf(workspaceId), payload, sending);

  const pushed = (ref: string, after: string, before: string = '0'.repeat(40)) => ({
    ref,
    before,
    after,
    compare: 'https://github.example/compare',
    // Two payloads differ.
    pushed: (deliveries += 1),
    sender: { login: 'ada', avatar_url: null, html_url: 'https://github.example/ada' },
  });
  const runsOf = async (workspaceId: string): Promise<readonly Identified[]> => {
    const operations = 'plan_and_apply,plan_only';
    const path = `/workspaces/${workspaceId}/runs?filter[operation]=${operations}`;
    return (await harness.call('GET', path)).list;
  };
  const versionsOf = (workspaceId: string) =>
    harness.call(
      'GET',
      `/workspaces/${workspaceId}/configuration-versions?include=ingress_attributes`,
    );
  const logOf = async (workspaceId: string) =>
    (await harness.call('GET', `/workspaces/${workspaceId}/repository-deliveries`)).list.map(
      ({ attributes }) => attributes,
    );
  const statuses = () =>
    server.calls
      .filter(({ path }) => path.includes('/statuses/'))
      .map(({ path, body }) => [path.split('/').at(-1), body['state'], body['description']]);
  /** A waiting run that one test leaves would be claimed in the next. */
  const discardAll = async (workspaceId: string) => {
    for (const { id } of await runsOf(workspaceId)) await runs.act(id, 'discard');
    await harness.runUpkeep();
    server.calls.length = 0;
  };
  const { tokenId, id: clientId } = await createClient('token-of-the-provider');
  return {
    clientId,
    server,
    runs,
    harness,
    newIdentifier,
    createClient,
    createWorkspace,
    connect,
    repositoryOf,
    hookOf,
    deliverTo,
    deliver,
    pushed,
    runsOf,
    versionsOf,
    logOf,
    statuses,
    discardAll,
    /** Forgets the calls so far, and answers as usual. */
    reset: () => {
      server.calls.length = 0;
      server.beforeGit = () => false;
      server.answer = () => ({ status: 201, body: { id: 7 } });
    },
    [Symbol.asyncDispose]: async () => {
      await harness[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
};
