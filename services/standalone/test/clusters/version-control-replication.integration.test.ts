/**
 * Repositories, notifications, invitations and run triggers of a cluster that is lost: the promoted
 * secondary finishes the work in progress, even after a restart, and continues to receive pushes.
 */
import { createHmac } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type LinkedServer,
  type MailServer,
  type NatsServer,
  type RepositoryServer,
  startLinkedServer,
  startMailServer,
  startNats,
  startRepositoryServer,
} from '@keelson/testkit';
import {
  attach,
  type Cluster,
  generateOperationToken,
  startCluster,
  until,
  untilEqual,
} from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const WITHIN_MS = 240_000;
const DR = 'sys/replication/dr';
const REPOSITORY = 'acme/infra';
const O = 'organizations/acme';
const ADDRESS_OF_A = 'https://a.example';
const ADDRESS_OF_B = 'https://b.example';

/** Where notifications go. */
const received: { readonly trigger: string; readonly workspace: string }[] = [];
const arrivals = new EventEmitter<{ notification: [] }>();
let accepts = true;
const destination = createServer((request, response) => {
  let text = '';
  request
    .setEncoding('utf8')
    .on('data', (chunk: string) => (text += chunk))
    .on('end', () => {
      const payload = JSON.parse(text) as {
        workspace_name: string;
        notifications: { trigger: string }[];
      };
      const trigger = payload.notifications[0]?.trigger ?? '';
      if (accepts) received.push({ trigger, workspace: payload.workspace_name });
      response.writeHead(accepts ? 200 : 503).end();
      arrivals.emit('notification');
    });
});

let nats: NatsServer;
let repositories: RepositoryServer;
let mail: MailServer;
let link: LinkedServer;
let a: Cluster;
let b: Cluster;

beforeAll(async () => {
  await once(destination.listen(0, '127.0.0.1'), 'listening');
  [nats, repositories, mail, link] = await Promise.all([
    startNats({ jetstream: true }),
    startRepositoryServer(),
    startMailServer(),
    startLinkedServer(),
  ]);
  const environment = {
    KEELSON_OUTBOUND_RANGES: '127.0.0.1',
    KEELSON_WORKSPACE_SMTP_URL: mail.url,
    KEELSON_WORKSPACE_MAIL_FROM: 'keelson@keelson.example',
  };
  [a, b] = await Promise.all([
    startCluster(nats.url, { ...environment, KEELSON_PUBLIC_URL: ADDRESS_OF_A }),
    startCluster(nats.url, { ...environment, KEELSON_PUBLIC_URL: ADDRESS_OF_B }),
  ]);
  await a.v1('POST', `${DR}/primary/enable`, {});
  await attach('dr', a, b, 'b', a.process().http);
}, WITHIN_MS);
afterAll(async () => {
  await Promise.all([a.stop(), b.stop()]);
  await nats[Symbol.asyncDispose]();
  await repositories[Symbol.asyncDispose]();
  await mail[Symbol.asyncDispose]();
  await link[Symbol.asyncDispose]();
  await new Promise((closed) => destination.close(closed));
}, WITHIN_MS);

interface Resource {
  readonly id: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** The cluster that the public name leads to. */
let leader: () => Cluster = () => a;

/** @throws Error with the document of a refusal */
const call = async (method: string, path: string, body?: object, token?: string) => {
  const answer = await leader().api(method, path, body, token ?? a.apiToken);
  if (answer.status >= 300) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body?.data;
};
const create = (
  path: string,
  type: string,
  attributes: object,
  relationships: object = {},
): Promise<Resource> => call('POST', path, { data: { type, attributes, relationships } });
const toOne = (type: string, id: string) => ({ data: { type, id } });

/** Sends a push to the address that was registered at the provider first, signed with the secret given there. */
const push = async (
  after: string,
  { deliveryId = after, secret }: { deliveryId?: string; secret?: string } = {},
): Promise<number> => {
  const registered = repositories.calls.find(({ path }) => path.endsWith('/hooks'));
  const config = registered?.body['config'] as { url: string; secret: string };
  const body = JSON.stringify({
    ref: 'refs/heads/main',
    before: '0'.repeat(40),
    after,
    compare: 'https://github.example/compare',
    sender: { login: 'ada', avatar_url: null, html_url: 'https://github.example/ada' },
  });
  const signature = createHmac('sha256', secret ?? config.secret)
    .update(body)
    .digest('hex');
  const { status } = await fetch(config.url.replace(ADDRESS_OF_A, leader().process().http), {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-github-delivery': deliveryId,
      'x-hub-signature-256': `sha256=${signature}`,
    },
  });
  return status;
};

const runsOf = (workspaceId: string): Promise<readonly Resource[]> =>
  call('GET', `workspaces/${workspaceId}/runs`);
const messagesOf = async (workspaceId: string): Promise<readonly unknown[]> =>
  (await runsOf(workspaceId)).map(({ attributes }) => attributes['message']);
const statusOf = async (runId: string) =>
  ((await call('GET', `runs/${runId}`)) as Resource).attributes['status'];

describe('the promoted cluster', { timeout: WITHIN_MS, sequential: true } as object, () => {
  let app = '';
  let downstream = '';
  let pool = '';
  let poolToken = '';
  let waitingPush = '';
  let linkedClient = '';
  let sentBack = '';

  /** An agent of the pool plans or applies the run that is next. */
  const workOff = async (agentId: string): Promise<string> => {
    const claimed = (await call(
      'POST',
      'agent-runs/actions/claim',
      { data: { type: 'agents', id: agentId } },
      poolToken,
    )) as Resource;
    const finished = { status: 'finished', 'has-changes': true, 'resource-additions': 1 };
    const report = { data: { type: 'agent-runs', attributes: finished } };
    const token = String(claimed.attributes['token']);
    await call('PATCH', `agent-runs/${claimed.id}`, report, token);
    return claimed.id;
  };

  beforeAll(async () => {
    await create('organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
    pool = (await create(`${O}/agent-pools`, 'agent-pools', { name: 'pool' })).id;
    const made = await create(
      `agent-pools/${pool}/authentication-tokens`,
      'authentication-tokens',
      { description: 'agents' },
    );
    poolToken = String(made.attributes['token']);
    const client = (await create(`${O}/oauth-clients`, 'oauth-clients', {
      'service-provider': 'github',
      'http-url': repositories.url,
      'api-url': `${repositories.url}/api`,
      'oauth-token-string': 'token-of-the-provider',
    })) as Resource & { relationships: { 'oauth-tokens': { data: { id: string }[] } } };
    const vcsRepo = {
      identifier: REPOSITORY,
      'oauth-token-id': client.relationships['oauth-tokens'].data[0]?.id,
    };
    const executed = { 'execution-mode': 'agent', 'agent-pool-id': pool, 'auto-apply': true };
    await repositories.commit(REPOSITORY, { 'main.tf': '1', 'downstream/main.tf': '1' });
    const connect = async (name: string, attributes: object): Promise<string> =>
      (
        await create(`${O}/workspaces`, 'workspaces', {
          name,
          ...executed,
          ...attributes,
          'vcs-repo': vcsRepo,
        })
      ).id;
    app = await connect('app', {});
    downstream = await connect('downstream', {
      'working-directory': 'downstream',
      'auto-apply-run-trigger': false,
    });
    for (const id of [app, downstream])
      await until(
        () => call('GET', `workspaces/${id}/configuration-versions`),
        (versions: readonly Resource[]) => versions[0]?.attributes['status'] === 'uploaded',
      );
    await until(
      () => Promise.resolve(repositories.calls),
      (calls) => calls.some(({ path }) => path.endsWith('/hooks')),
    );
    await call('POST', `workspaces/${downstream}/run-triggers`, {
      data: { relationships: { sourceable: toOne('workspaces', app) } },
    });
    await create(`workspaces/${app}/notification-configurations`, 'notification-configurations', {
      name: 'hook',
      'destination-type': 'generic',
      enabled: true,
      url: `http://127.0.0.1:${(destination.address() as AddressInfo).port}/`,
      triggers: ['run:created'],
    });
    const linked = await create(`${O}/oauth-clients`, 'oauth-clients', {
      'service-provider': 'bitbucket_data_center',
      'http-url': link.url,
      'api-url': link.url,
      key: link.consumerKey,
      secret: link.privateKey,
      'rsa-public-key': link.publicKey,
    });
    linkedClient = linked.id;
    const begun = (await call(
      'POST',
      `oauth-clients/${linkedClient}/actions/begin-authorization`,
    )) as Resource;
    sentBack = link.visit(String(begun.attributes['authorize-url']));
    received.length = 0;
  }, WITHIN_MS);

  test('takes over what was waiting: a push, a notification and an invitation', async () => {
    // Nothing that either cluster sends arrives from here on.
    accepts = false;
    mail.accepts = false;
    repositories.beforeGit = (_request, response) => {
      response.writeHead(500).end();
      return true;
    };
    const attempted = once(arrivals, 'notification');
    await create('runs', 'runs', { message: 'By hand' }, { workspace: toOne('workspaces', app) });
    await attempted;
    await create(`${O}/organization-memberships`, 'organization-memberships', {
      email: 'ada@keelson.example',
    });
    waitingPush = await repositories.commit(REPOSITORY, { 'main.tf': '2' });
    expect(await push(waitingPush)).toBe(202);
    await untilEqual('dr', a, b);
    await a.process().stop('SIGKILL');

    leader = () => b;
    const token = await generateOperationToken(b, a.shares);
    const promoted = await until(
      () => b.v1('POST', `${DR}/secondary/promote`, { dr_operation_token: token, force: true }),
      ({ status }) => status !== 503,
    );
    expect(promoted.status).toBe(200);
    await b.restart('SIGKILL');
    expect(received).toEqual([]);
    expect(mail.mails).toEqual([]);

    accepts = true;
    mail.accepts = true;
    repositories.beforeGit = () => false;
    await until(
      () => messagesOf(app),
      (messages) => messages.includes('Change main.tf'),
    );
    await until(
      () => Promise.resolve(received),
      (notifications) => notifications.length === 2,
    );
    expect(received).toEqual([
      { trigger: 'run:created', workspace: 'app' },
      { trigger: 'run:created', workspace: 'app' },
    ]);
    const mails = await until(
      () => Promise.resolve(mail.mails),
      ({ length }) => length > 0,
    );
    expect(mails[0]).toMatch(/^To: ada@keelson\.example\r$/m);
  });

  test('receives pushes at the same address, and knows those that its predecessor had', async () => {
    expect(await push(waitingPush)).toBe(409);
    const commit = await repositories.commit(REPOSITORY, { 'main.tf': '3', 'other.tf': '' });
    expect(await push(commit, { secret: 'guessed' })).toBe(403);
    expect(await push(commit)).toBe(202);
    await until(
      () => messagesOf(app),
      (messages) => messages.includes('Change main.tf, other.tf'),
    );
    expect(await messagesOf(downstream)).toEqual([]);
  });

  test('completes the authorization of a client that its predecessor has begun, once', async () => {
    const { searchParams } = new URL(sentBack);
    const attributes = {
      'oauth-token': searchParams.get('oauth_token'),
      'oauth-verifier': searchParams.get('oauth_verifier'),
    };
    const path = `oauth-clients/${linkedClient}/actions/complete-authorization`;
    const complete = () => create(path, 'oauth-authorizations', attributes);
    expect(await complete()).toMatchObject({ type: 'oauth-tokens' });
    expect(link.accessTokens.size).toBe(1);
    await expect(complete()).rejects.toThrow('409');
  });

  test('has registered the webhook at its own address, and removed the former one', async () => {
    const calls = await until(
      () => Promise.resolve(repositories.calls),
      (all) => all.some(({ method }) => method === 'DELETE'),
    );
    const hooks = calls.filter(({ path }) => path.includes('/hooks'));
    const urlOf = ({ body }: RepositoryServer['calls'][number]): string | undefined =>
      (body['config'] as { url: string } | undefined)?.url;
    const [first = ''] = hooks.map(urlOf);
    expect(hooks.map((one) => [one.method, one.path, urlOf(one)])).toEqual([
      ['POST', `/api/repos/${REPOSITORY}/hooks`, first],
      ['POST', `/api/repos/${REPOSITORY}/hooks`, first.replace(ADDRESS_OF_A, ADDRESS_OF_B)],
      ['DELETE', `/api/repos/${REPOSITORY}/hooks/7`, undefined],
    ]);
    const workspace = (await call('GET', `workspaces/${app}`)) as Resource;
    expect(workspace.attributes['vcs-repo']).toMatchObject({
      'webhook-url': first.replace(ADDRESS_OF_A, ADDRESS_OF_B),
    });
  });

  test('executes the runs, reports them at the provider, and follows run triggers', async () => {
    const agent = (await call(
      'POST',
      'agents',
      { data: { type: 'agents', attributes: { name: 'one' } } },
      poolToken,
    )) as Resource;
    const pushed = (await runsOf(app)).find(
      ({ attributes }) => attributes['message'] === 'Change main.tf',
    );
    for (const run of await runsOf(app))
      if (run.id !== pushed?.id)
        await call('POST', `runs/${run.id}/actions/discard`, { comment: 'not this one' });
    expect(await workOff(agent.id)).toBe(pushed?.id);
    expect(await workOff(agent.id)).toBe(pushed?.id);
    expect(await statusOf(pushed?.id ?? '')).toBe('applied');
    const triggered = await until(
      () => runsOf(downstream),
      ({ length }) => length > 0,
    );
    expect(triggered[0]?.attributes['status']).toBe('pending');
    const isSuccess = ({ path, body }: RepositoryServer['calls'][number]): boolean =>
      path.endsWith(`/statuses/${waitingPush}`) && body['state'] === 'success';
    await until(
      () => Promise.resolve(repositories.calls),
      (calls) => calls.some(isSuccess),
    );
  });
});
