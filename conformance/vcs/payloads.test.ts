/**
 * The documented payloads of all providers, whole, signed as the provider signs, and sent to the webhook that
 * Keelson registered. Those in the table start runs, whose commit has the attributes shown; all others are accepted
 * and ignored.
 *
 * | provider              | samples | event                                   | run           |
 * | --------------------- | ------- | --------------------------------------- | ------------- |
 * | GitHub, Enterprise    | 410     | `push` of a branch or tag               | plan and apply |
 * |                       |         | `pull_request` opened, reopened, synchronized | plan only |
 * | GitLab                | 71      | `Push Hook`, `Tag Push Hook`            | plan and apply |
 * |                       |         | `Merge Request Hook` opened             | plan only     |
 * | Gitea                 | 17      | `push`                                  | plan and apply |
 * | Bitbucket Cloud       | 18      | `repo:push`                             | plan and apply |
 * |                       |         | `pullrequest:created`, `:updated`       | plan only     |
 * | Bitbucket Data Center | 18      | `repo:refs_changed` of a branch or tag  | plan and apply |
 * |                       |         | `pr:opened`, `pr:from_ref_updated`      | plan only     |
 */
import { createHmac } from 'node:crypto';
import {
  type ApiCall,
  publicAddress,
  type RepositoryServer,
  startRepositoryServer,
} from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPool } from '../terraform/agent-process.ts';
import { type Installation, install } from '../terraform/terraform-cli.ts';
import { type PayloadSample, readSamples } from './payload-samples.ts';

type Service = keyof typeof readSamples;

const SLOW_MS = 240_000;

/** A sample that starts a run. */
interface Started {
  readonly sample: string;
  /** The commit in the payload, which the test replaces by one that exists; absent where payloads name none. */
  readonly hash?: string;
  /** The branch or tag whose commit the run is of. */
  readonly branch?: string;
  readonly tag?: string;
  /** Attributes of the commit that come from the payload. */
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Turns the sample into another documented payload of the same form, of which no sample is published. */
  readonly event?: string;
  readonly alter?: (body: string) => string;
}

const CODERTOCAT = { 'sender-username': 'Codertocat' };
const GITHUB_PULL_REQUEST = {
  ...CODERTOCAT,
  'is-pull-request': true,
  'pull-request-number': 2,
  'pull-request-title': 'Update the README with new information.',
};
const GITHUB_PUSH = '6113728f27ae82c7b1a177c8d03f9e96e0adf246';
const githubPullRequest = (sample: string, hash: string): Started => ({
  sample,
  hash,
  branch: 'changes',
  attributes: GITHUB_PULL_REQUEST,
});
const GITLAB_COMMIT = 'da1560886d4f094c3e6c9ef40349f7d38b5d27d7';
const GITLAB_TAG = '82b3d5ae55f7080f1e6022629cdb57bfae7cccc7';
const BITBUCKET_PULL_REQUEST = {
  'sender-username': 'emmap1',
  'is-pull-request': true,
  'pull-request-number': 1,
  'pull-request-title': 'Title of pull request',
};
const DATA_CENTER_COMMIT = '32a0b8a740c2963c6f56bd8baf3dc05683d299e0';
const DATA_CENTER_PULL_REQUEST: Started = {
  sample: 'pr-opened',
  hash: DATA_CENTER_COMMIT,
  branch: 'feature/wip',
  attributes: {
    'sender-username': 'gopher',
    'is-pull-request': true,
    'pull-request-number': 5,
    'pull-request-title': 'Update README',
  },
};
/** The published sample is of a deletion. */
const asPush = (body: string): string =>
  body
    .replace(/"toHash": "0{40}"/, `"toHash": "${DATA_CENTER_COMMIT}"`)
    .replace(/"fromHash": "[0-9a-f]{40}"/, `"fromHash": "${'0'.repeat(40)}"`)
    .replace('"type": "DELETE"', '"type": "ADD"');

const STARTED: Readonly<Record<Service, readonly Started[]>> = {
  github: [
    { sample: 'push 0', hash: GITHUB_PUSH, tag: 'simple-tag', attributes: CODERTOCAT },
    { sample: 'push 4', hash: GITHUB_PUSH, branch: 'master', attributes: CODERTOCAT },
    { sample: 'push 5', hash: GITHUB_PUSH, branch: 'master', attributes: CODERTOCAT },
    ...[0, 12, 13, 14, 18, 19, 22].map((index) =>
      githubPullRequest(`pull_request ${index}`, 'ec26c3e57ca3a959ca5aad62de7213c562f8c821'),
    ),
  ],
  github_enterprise: [
    { sample: 'push 0', hash: GITHUB_PUSH, tag: 'simple-tag', attributes: CODERTOCAT },
    githubPullRequest('pull_request 0', '14977a7b5485400124827221a04bfb474bcd72d1'),
  ],
  gitea: [
    {
      sample: 'push-event',
      hash: '67b56589a45103f891bdee7c0546e5d40bc02001',
      branch: 'master',
      attributes: { 'sender-username': 'example' },
    },
  ],
  gitlab_hosted: [
    {
      sample: 'push',
      hash: GITLAB_COMMIT,
      branch: 'master',
      attributes: { 'sender-username': 'jsmith' },
    },
    // Older versions of GitLab send no user name.
    {
      sample: 'push-event',
      hash: GITLAB_COMMIT,
      branch: 'master',
      attributes: { 'sender-username': null },
    },
    {
      sample: 'tag_push',
      hash: GITLAB_TAG,
      tag: 'v1.0.0',
      attributes: { 'sender-username': 'jsmith' },
    },
    {
      sample: 'tag-event',
      hash: GITLAB_TAG,
      tag: 'v1.0.0',
      attributes: { 'sender-username': null },
    },
    ...[
      ['merge_request', 'user1'],
      ['merge-request-event', 'root'],
    ].map(([sample = '', user]) => ({
      sample,
      hash: GITLAB_COMMIT,
      branch: 'ms-viewport',
      attributes: {
        'sender-username': user,
        'is-pull-request': true,
        'pull-request-number': 1,
        'pull-request-title': 'MS-Viewport',
      },
    })),
    {
      sample: 'service_merge_request',
      hash: '0ab96a10266b95b4b533dcfd98738015fbe70889',
      branch: 'next-feature',
      attributes: {
        'sender-username': 'test',
        'is-pull-request': true,
        'pull-request-number': 2,
        'pull-request-title': 'Update client.go 🎉',
      },
    },
  ],
  bitbucket_hosted: [
    {
      sample: 'repo-push',
      hash: '709d658dc5b6d6afcd46049c2f332ee3f515a67d',
      branch: 'name-of-branch',
      attributes: { 'sender-username': 'emmap1' },
    },
    ...['pull-request-created', 'pull-request-updated'].map((sample) => ({
      sample,
      branch: 'branch2',
      attributes: BITBUCKET_PULL_REQUEST,
    })),
  ],
  bitbucket_data_center: [
    DATA_CENTER_PULL_REQUEST,
    { ...DATA_CENTER_PULL_REQUEST, event: 'pr:from_ref_updated' },
    {
      sample: 'repo-refs-changed',
      hash: DATA_CENTER_COMMIT,
      branch: 'feature/wip',
      attributes: { 'sender-username': 'gopher' },
      alter: asPush,
    },
    {
      sample: 'repo-refs-changed',
      tag: 'v1.0.0',
      attributes: { 'sender-username': 'gopher' },
      alter: (body) => asPush(body).replaceAll('refs/heads/feature/wip', 'refs/tags/v1.0.0'),
    },
  ],
};

/** Published with a blank at the end of the names of members, as no GitLab sends them. */
const MISSPELT = 'group_merge_request';

/** The secret in the request that registers a webhook. */
const secretIn = ({ body }: ApiCall): string => {
  const { config, configuration } = body as Record<string, Record<string, string> | undefined>;
  const settings = config ?? configuration ?? (body as Record<string, string>);
  return settings['secret'] ?? settings['token'] ?? '';
};
/** The path of the webhook in the request that registers it. */
const hookPathIn = ({ body }: ApiCall): string => {
  const { config } = body as { config?: { url: string } };
  return new URL(config?.url ?? String(body['url'])).pathname;
};

/** Headers of a delivery, with the signature or the token of the provider. */
const signed = (
  service: Service,
  { event, body }: PayloadSample,
  secret: string,
  id: string,
): Record<string, string> => {
  const digest = createHmac('sha256', secret).update(body).digest('hex');
  switch (service) {
    case 'github':
    case 'github_enterprise':
      return {
        'x-github-event': event,
        'x-github-delivery': id,
        'x-hub-signature-256': `sha256=${digest}`,
      };
    case 'gitea':
      return { 'x-gitea-event': event, 'x-gitea-delivery': id, 'x-gitea-signature': digest };
    case 'gitlab_hosted':
      return { 'x-gitlab-event': event, 'x-gitlab-event-uuid': id, 'x-gitlab-token': secret };
    case 'bitbucket_hosted':
      return {
        'x-event-key': event,
        'x-request-uuid': id,
        'x-hub-signature': `sha256=${digest}`,
      };
    case 'bitbucket_data_center':
      return { 'x-event-key': event, 'x-request-id': id, 'x-hub-signature': `sha256=${digest}` };
  }
};

const SERVICES = Object.keys(readSamples) as Service[];

let installation: Installation;
let poolId = '';
beforeAll(async () => {
  installation = await install({
    KEELSON_OUTBOUND_RANGES: '127.0.0.1',
    ...(await publicAddress()),
  });
  ({ poolId } = await createPool(installation, 'agents'));
}, SLOW_MS);
afterAll(() => installation[Symbol.asyncDispose](), SLOW_MS);

describe.for(SERVICES)('the payloads of %s', { timeout: SLOW_MS }, (service) => {
  let server: RepositoryServer;
  let samples: readonly PayloadSample[];
  let tokenId = '';
  let deliveries = 0;
  const expected: {
    readonly isMatch: (call: ApiCall) => boolean;
    readonly found: (call: ApiCall) => void;
  }[] = [];

  beforeAll(async () => {
    samples = await readSamples[service]();
    server = await startRepositoryServer();
    server.answer = (call) => {
      for (const { isMatch, found } of expected) if (isMatch(call)) found(call);
      return { status: 201, body: { id: 7, uuid: '{7}' } };
    };
    const client = await installation.call('POST', '/organizations/acme/oauth-clients', {
      data: {
        type: 'oauth-clients',
        attributes: {
          'service-provider': service,
          'http-url': server.url,
          'api-url': `${server.url}/api`,
          'oauth-token-string': 'token-of-the-provider',
        },
      },
    });
    const tokens = client.data.relationships?.['oauth-tokens']?.data as { id: string }[];
    tokenId = tokens[0]?.id ?? '';
  }, SLOW_MS);
  afterAll(() => server[Symbol.asyncDispose]());

  /** The first request of Keelson to the provider that matches. */
  const nextCall = (isMatch: (call: ApiCall) => boolean): Promise<ApiCall> =>
    new Promise((resolve) => expected.push({ isMatch, found: resolve }));
  const statusOn = (sha: string) => nextCall(({ path }) => path.includes(sha));

  /** A workspace with a repository of its own, and its webhook as the provider knows it. */
  const connect = async (name: string, branch: string, repository: object = {}) => {
    const copy = service === 'bitbucket_data_center' ? `scm/acme/${name}` : `acme/${name}`;
    const sha = await server.commit(copy, { 'main.tf': name }, branch);
    const registered = nextCall(({ path }) => path.includes(name) && path.endsWith('hooks'));
    const initial = statusOn(sha);
    const made = await installation.call('POST', '/organizations/acme/workspaces', {
      data: {
        type: 'workspaces',
        attributes: {
          // All providers share an organization.
          name: `${service}-${name}`,
          'execution-mode': 'agent',
          'agent-pool-id': poolId,
          'queue-all-runs': true,
          'vcs-repo': { identifier: `acme/${name}`, 'oauth-token-id': tokenId, ...repository },
        },
      },
    });
    expect(made.status).toBe(201);
    const call = await registered;
    await initial;
    return { id: made.data.id, copy, path: hookPathIn(call), secret: secretIn(call) };
  };

  const deliver = async (hook: { path: string; secret: string }, sample: PayloadSample) => {
    const response = await fetch(installation.http + hook.path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...signed(service, sample, hook.secret, `delivery-${(deliveries += 1)}`),
      },
      body: sample.body,
    });
    return { status: response.status, text: await response.text() };
  };
  /** Event and outcome of the last delivery in the log of the workspace. */
  const logged = async (id: string) => {
    const path = `/workspaces/${id}/repository-deliveries?page[size]=1`;
    const [last] = (await installation.call('GET', path)).list;
    return `${String(last?.attributes['event'])}: ${String(last?.attributes['outcome'])}`;
  };

  test('that start no runs are accepted, and logged as ignored', async () => {
    const hook = await connect('ignoring', 'main');
    const others = samples.filter(
      ({ name }) =>
        name !== MISSPELT &&
        !STARTED[service].some(({ sample, alter }) => sample === name && alter === undefined),
    );
    expect(others.length).toBeGreaterThan(10);
    for (const [index, sample] of others.entries()) {
      // Some files hold the same payload for several events, which would be a replay; blanks make it another one.
      const body = sample.body + ' '.repeat(index);
      const { status, text } = await deliver(hook, { ...sample, body });
      expect({ sample: sample.name, status, text }).toEqual({
        sample: sample.name,
        status: 202,
        text: '',
      });
      expect(await logged(hook.id)).toBe(`${sample.event}: ignored`);
    }
    const runs = (await installation.call('GET', `/workspaces/${hook.id}/runs`)).list;
    expect(runs).toHaveLength(1);
  });

  test.for(service === 'gitlab_hosted' ? [MISSPELT] : [])(
    'that lack members are refused: %s',
    async (misspelt) => {
      const hook = await connect('refusing', 'main');
      const sample = samples.find(({ name }) => name === misspelt);
      const { status, text } = await deliver(hook, sample as PayloadSample);
      expect(status).toBe(400);
      expect(text).toContain('the payload is not one of this event');
    },
  );

  test.concurrent.for(
    STARTED[service].map((started, index) => [started.sample, index, started] as const),
  )(
    'that start runs: %s (%i)',
    async ([name, index, { hash, branch, tag, attributes, event, alter }]) => {
      const sample = samples.find((one) => one.name === name);
      if (sample === undefined) throw new Error(`there is no sample ${name}`);
      const isPullRequest = attributes['is-pull-request'] === true;
      // A workspace follows the branch of a push, and the target of a pull request.
      const followed = isPullRequest || branch === undefined ? 'master' : branch;
      const workspace = await connect(
        // No name is the beginning of another.
        `started-${index + 10}`,
        followed,
        tag === undefined ? { branch: followed } : { branch: followed, 'tags-regex': '.*' },
      );
      const sha = await server.commit(workspace.copy, { 'a.tf': name }, branch ?? followed);
      if (tag !== undefined) {
        await server.git(workspace.copy, 'tag', tag);
        await server.git(workspace.copy, 'push', '--quiet', 'origin', tag);
      }
      const reported = statusOn(sha);
      const altered = alter?.(sample.body) ?? sample.body;
      const body = hash === undefined ? altered : altered.replaceAll(hash, sha);
      const sent = { ...sample, body, event: event ?? sample.event };
      expect(await deliver(workspace, sent)).toEqual({ status: 202, text: '' });
      expect(await logged(workspace.id)).not.toContain('ignored');
      await reported;
      expect(await logged(workspace.id)).toBe(`${sent.event}: done`);
      const versions = await installation.call(
        'GET',
        `/workspaces/${workspace.id}/configuration-versions?include=ingress_attributes`,
      );
      const [commit] = (versions.document as { included: (typeof versions)['list'] }).included;
      expect(versions.list[0]?.attributes).toMatchObject({ speculative: isPullRequest });
      expect(commit?.attributes).toMatchObject({
        'commit-sha': sha,
        branch: branch ?? '',
        tag: tag ?? null,
        'is-pull-request': false,
        ...attributes,
      });
      const operation = isPullRequest ? 'plan_only' : 'plan_and_apply';
      const path = `/workspaces/${workspace.id}/runs?filter[operation]=${operation}`;
      const [run] = (await installation.call('GET', path)).list;
      expect(run?.attributes).toMatchObject({ 'plan-only': isPullRequest });
    },
  );
});
