/** Payloads, signatures and requests in the form that each provider documents. */
import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ServiceProvider } from '../../workspaces/model/domain/oauth-client.ts';
import type { Provider, RemoteRepository } from './provider.ts';
import { PROVIDERS } from './providers.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
const ZERO = '0'.repeat(40);

const provide = (name: ServiceProvider): Provider => PROVIDERS[name];
const repositoryAt = (
  serviceProvider: ServiceProvider,
  identifier = 'acme/infra',
): RemoteRepository => ({
  connection: {
    serviceProvider,
    agentPoolId: null,
    httpUrl: 'https://git.example/',
    apiUrl: 'https://api.git.example/v1/',
    token: 'token',
    signing: null,
  },
  identifier,
});
const hex = (body: string, secret: string) =>
  createHmac('sha256', secret).update(body).digest('hex');

describe('a signature', () => {
  const BODY = '{"ref":"refs/heads/main"}';
  test.for([
    ['github', 'x-hub-signature-256', `sha256=${hex(BODY, 'secret')}`],
    ['github_enterprise', 'x-hub-signature-256', `sha256=${hex(BODY, 'secret')}`],
    ['gitea', 'x-gitea-signature', hex(BODY, 'secret')],
    ['forgejo', 'x-gitea-signature', hex(BODY, 'secret')],
    ['gitlab_hosted', 'x-gitlab-token', 'secret'],
    ['bitbucket_hosted', 'x-hub-signature', `sha256=${hex(BODY, 'secret')}`],
    ['bitbucket_server', 'x-hub-signature', `sha256=${hex(BODY, 'secret')}`],
  ] as const)('of %s is checked', ([name, header, value]) => {
    const provider = provide(name);
    const isAuthentic = (given: string | undefined, secret = 'secret') =>
      provider.isAuthentic(
        { headers: given === undefined ? {} : { [header]: given }, body: Buffer.from(BODY) },
        secret,
      );
    expect(isAuthentic(value)).toBe(true);
    expect(isAuthentic(value, 'other')).toBe(false);
    expect(isAuthentic(undefined)).toBe(false);
    expect(isAuthentic('')).toBe(false);
    expect(isAuthentic(`${value.slice(0, -1)}x`)).toBe(false);
  });

  // The example of GitHub's documentation on validating deliveries.
  test('matches the documented example', () => {
    const headers = {
      'x-hub-signature-256':
        'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    };
    const delivery = { headers, body: Buffer.from('Hello, World!') };
    expect(provide('github').isAuthentic(delivery, "It's a Secret to Everybody")).toBe(true);
  });
});

const PUSHES: readonly (readonly [ServiceProvider, string, object, object])[] = [
  [
    'github',
    'push',
    { ref: 'refs/heads/a/b', before: A, after: B, compare: 'https://c' },
    { compareUrl: 'https://c/' },
  ],
  [
    'gitea',
    'push',
    { ref: 'refs/heads/a/b', before: A, after: B, compare_url: 'https://c' },
    { compareUrl: 'https://c/' },
  ],
  [
    'gitlab_hosted',
    'Push Hook',
    { ref: 'refs/heads/a/b', before: A, after: B, checkout_sha: B, user_username: 'ada' },
    { sender: { username: 'ada' } },
  ],
  [
    'bitbucket_hosted',
    'repo:push',
    {
      push: {
        changes: [
          {
            new: { type: 'branch', name: 'a/b', target: { hash: B } },
            old: { target: { hash: A } },
          },
        ],
      },
    },
    {},
  ],
  [
    'bitbucket_data_center',
    'repo:refs_changed',
    {
      actor: { name: 'ada' },
      changes: [{ ref: { id: 'refs/heads/a/b' }, fromHash: A, toHash: B, type: 'UPDATE' }],
    },
    { sender: { username: 'ada' } },
  ],
];
const TAGS: readonly (readonly [ServiceProvider, string, object])[] = [
  ['github', 'push', { ref: 'refs/tags/v1', before: ZERO, after: B }],
  [
    'gitlab_hosted',
    'Tag Push Hook',
    { ref: 'refs/tags/v1', before: ZERO, after: A, checkout_sha: B },
  ],
  [
    'bitbucket_hosted',
    'repo:push',
    { push: { changes: [{ new: { type: 'tag', name: 'v1', target: { hash: B } }, old: null }] } },
  ],
  [
    'bitbucket_server',
    'repo:refs_changed',
    { changes: [{ ref: { id: 'refs/tags/v1' }, fromHash: ZERO, toHash: B, type: 'ADD' }] },
  ],
];
const DELETIONS: readonly (readonly [ServiceProvider, string, object])[] = [
  ['github', 'push', { ref: 'refs/heads/a', before: A, after: ZERO }],
  [
    'gitlab_hosted',
    'Push Hook',
    { ref: 'refs/heads/a', before: A, after: ZERO, checkout_sha: null },
  ],
  [
    'bitbucket_hosted',
    'repo:push',
    { push: { changes: [{ new: null, old: { target: { hash: A } } }] } },
  ],
  [
    'bitbucket_server',
    'repo:refs_changed',
    { changes: [{ ref: { id: 'refs/heads/a' }, fromHash: A, toHash: ZERO, type: 'DELETE' }] },
  ],
];

describe('a delivery', () => {
  test.for(PUSHES)('of %s reports a push', ([name, event, payload, more]) =>
    expect(provide(name).toEvents(event, payload)).toMatchObject([
      { kind: 'push', branch: 'a/b', baseSha: A, commitSha: B, ...more },
    ]),
  );
  test.for(TAGS)('of %s reports a tag', ([name, event, payload]) =>
    expect(provide(name).toEvents(event, payload)).toMatchObject([{ kind: 'tag', tag: 'v1' }]),
  );
  test.for(DELETIONS)('of %s reports no deletion', ([name, event, payload]) =>
    expect(provide(name).toEvents(event, payload)).toEqual([]),
  );
  test.for([...PUSHES, ...TAGS])('of %s that lacks parts is refused', ([name, event]) => {
    for (const payload of [{}, null, 7, [], { ref: 7 }, { push: {} }, { changes: 'x' }])
      expect(() => provide(name).toEvents(event, payload)).toThrow('not one of this event');
  });
  test.for(['github', 'gitlab_hosted', 'bitbucket_hosted', 'bitbucket_server', 'gitea'] as const)(
    'of %s about something else reports nothing',
    (name) => expect(provide(name).toEvents('ping', { zen: 'x' })).toEqual([]),
  );
});

const PULL_REQUESTS: readonly (readonly [ServiceProvider, string, (from: string) => object])[] = [
  [
    'github',
    'pull_request',
    (from) => ({
      action: 'synchronize',
      number: 5,
      pull_request: {
        title: 'T',
        body: null,
        html_url: 'https://h',
        head: { ref: 'topic', sha: B, repo: { full_name: from } },
        base: { ref: 'main', sha: A, repo: { full_name: 'acme/infra' } },
      },
    }),
  ],
  [
    'gitea',
    'pull_request',
    (from) => ({
      action: 'synchronized',
      number: 5,
      pull_request: {
        title: 'T',
        merge_base: A,
        head: { ref: 'topic', sha: B, repo: { full_name: from } },
        base: { ref: 'main', sha: B, repo: { full_name: 'acme/infra' } },
      },
    }),
  ],
  [
    'gitlab_enterprise_edition',
    'Merge Request Hook',
    (from) => ({
      user: { username: 'ada' },
      object_attributes: {
        iid: 5,
        action: 'open',
        title: 'T',
        source_branch: 'topic',
        target_branch: 'main',
        source_project_id: from === 'acme/infra' ? 1 : 2,
        target_project_id: 1,
        last_commit: { id: B },
      },
    }),
  ],
  [
    'bitbucket_hosted',
    'pullrequest:created',
    (from) => ({
      pullrequest: {
        id: 5,
        title: 'T',
        source: { branch: { name: 'topic' }, repository: { full_name: from } },
        destination: { branch: { name: 'main' }, repository: { full_name: 'acme/infra' } },
      },
    }),
  ],
  [
    'bitbucket_server',
    'pr:opened',
    (from) => ({
      pullRequest: {
        id: 5,
        title: 'T',
        fromRef: {
          displayId: 'topic',
          latestCommit: B,
          repository: { id: from === 'acme/infra' ? 1 : 2 },
        },
        toRef: { displayId: 'main', latestCommit: A, repository: { id: 1 } },
      },
    }),
  ],
];

describe('a link in a delivery', () => {
  /** A push and a pull request of each provider, with this as every link in them. */
  const WITH_LINKS: readonly (readonly [ServiceProvider, string, (link: string) => object])[] = [
    [
      'github',
      'push',
      (link) => ({
        ref: 'refs/heads/a',
        before: A,
        after: B,
        compare: link,
        sender: { login: 'ada', avatar_url: link, html_url: link },
      }),
    ],
    [
      'gitea',
      'push',
      (link) => ({
        ref: 'refs/heads/a',
        before: A,
        after: B,
        compare_url: link,
        sender: { login: 'ada', avatar_url: link, html_url: link },
      }),
    ],
    [
      'github',
      'pull_request',
      (link) => ({
        action: 'opened',
        number: 5,
        pull_request: {
          html_url: link,
          head: { ref: 'topic', sha: B },
          base: { ref: 'main', sha: A },
        },
        sender: { login: 'ada', avatar_url: link, html_url: link },
      }),
    ],
    [
      'gitlab_hosted',
      'Merge Request Hook',
      (link) => ({
        user: { username: 'ada', avatar_url: link },
        object_attributes: {
          iid: 5,
          action: 'open',
          url: link,
          source_branch: 'topic',
          target_branch: 'main',
          source_project_id: 1,
          target_project_id: 1,
          last_commit: { id: B },
        },
      }),
    ],
    [
      'gitlab_hosted',
      'Push Hook',
      (link) => ({
        ref: 'refs/heads/a',
        before: A,
        after: B,
        checkout_sha: B,
        user_username: 'ada',
        user_avatar: link,
      }),
    ],
    [
      'bitbucket_hosted',
      'repo:push',
      (link) => ({
        actor: { nickname: 'ada', links: { html: { href: link }, avatar: { href: link } } },
        push: {
          changes: [
            {
              new: { type: 'branch', name: 'a', target: { hash: B } },
              old: null,
              links: { html: { href: link } },
            },
          ],
        },
      }),
    ],
    [
      'bitbucket_hosted',
      'pullrequest:created',
      (link) => ({
        actor: { nickname: 'ada', links: { html: { href: link }, avatar: { href: link } } },
        pullrequest: {
          id: 5,
          title: 'T',
          links: { html: { href: link } },
          source: { branch: { name: 'topic' }, repository: { full_name: 'a/b' } },
          destination: { branch: { name: 'main' }, repository: { full_name: 'a/b' } },
        },
      }),
    ],
  ];
  test.for(WITH_LINKS)('of %s (%s) is kept if it leads to a web page', ([name, event, payload]) => {
    const links = (link: string) => {
      const [reported] = provide(name).toEvents(event, payload(link));
      return JSON.stringify(reported);
    };
    const good = 'https://git.example/page?of=it';
    expect(links(good)).toContain(good);
    for (const bad of [
      'javascript:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      '//git.example/page',
      'https://user:secret@git.example',
      `https://git.example/${'x'.repeat(2048)}`,
      '',
    ]) {
      const kept = links(bad);
      expect(kept).not.toMatch(/javascript:|data:|file:|git\.example|xxxx/);
    }
  });
});

describe('a pull request', () => {
  test.for(PULL_REQUESTS)('of %s is reported', ([name, event, payload]) =>
    expect(provide(name).toEvents(event, payload('acme/infra'))).toMatchObject([
      { kind: 'pull-request', number: 5, title: 'T', sourceBranch: 'topic', targetBranch: 'main' },
    ]),
  );
  test.for(PULL_REQUESTS)('of a fork at %s is not reported', ([name, event, payload]) =>
    expect(provide(name).toEvents(event, payload('mallory/infra'))).toEqual([]),
  );
  // Whoever may read the repository pushes it to refs/for/main, without a right to write.
  test.for(['gitea', 'forgejo'] as const)('of the AGit flow at %s is not reported', (name) => {
    const repo = { full_name: 'acme/infra' };
    const pull_request = {
      title: 'T',
      merge_base: A,
      head: { ref: 'refs/pull/5/head', sha: B, repo },
      base: { ref: 'main', sha: A, repo },
    };
    const payload = { action: 'opened', number: 5, pull_request };
    expect(provide(name).toEvents('pull_request', payload)).toEqual([]);
  });
});

test.for([
  ['github', 'https://api.git.example/v1/repos/acme/infra/hooks', { id: 3 }, '3'],
  ['gitea', 'https://api.git.example/v1/repos/acme/infra/hooks', { id: 3 }, '3'],
  ['gitlab_hosted', 'https://api.git.example/v1/projects/acme%2Finfra/hooks', { id: 3 }, '3'],
  [
    'bitbucket_hosted',
    'https://api.git.example/v1/repositories/acme/infra/hooks',
    { uuid: '{3}' },
    '%7B3%7D',
  ],
  [
    'bitbucket_server',
    'https://api.git.example/v1/rest/api/1.0/projects/acme/repos/infra/webhooks',
    { id: 3 },
    '3',
  ],
] as const)('the webhook of %s is created at %s and removed', ([name, url, answer, encoded]) => {
  const provider = provide(name);
  const repository = repositoryAt(name);
  const made = provider.createHook(repository, { url: 'https://k.example/hook', secret: 'hidden' });
  expect([made.method, made.url]).toEqual(['POST', url]);
  expect(JSON.stringify(made.body)).toContain('hidden');
  const id = provider.hookIdOf(answer) ?? '';
  const removed = provider.deleteHook(repository, id);
  expect([removed.method, removed.url]).toEqual(['DELETE', `${url}/${encoded}`]);
});

const STATUS = {
  commitSha: A,
  context: 'keelson/acme/infra',
  description: 'Planned',
  targetUrl: 'https://k.example/run',
};
test.for([
  ['github', '/repos/acme/infra/statuses/', 'pending pending success failure error'],
  ['gitea', '/repos/acme/infra/statuses/', 'pending pending success failure error'],
  ['gitlab_hosted', '/projects/acme%2Finfra/statuses/', 'running pending success failed canceled'],
  [
    'bitbucket_hosted',
    '/repositories/acme/infra/commit/',
    'INPROGRESS INPROGRESS SUCCESSFUL FAILED STOPPED',
  ],
  [
    'bitbucket_server',
    '/rest/build-status/1.0/commits/',
    'INPROGRESS INPROGRESS SUCCESSFUL FAILED CANCELLED',
  ],
] as const)('%s receives the states of a commit', ([name, path, states]) => {
  const requests = (['running', 'attention', 'success', 'failure', 'canceled'] as const).map(
    (state) => provide(name).reportStatus(repositoryAt(name), { ...STATUS, state }),
  );
  expect(requests.map(({ body }) => (body as { state: string }).state).join(' ')).toBe(states);
  expect(requests[0]?.url).toContain(`${path}${A}`);
});

test.for([
  ['github', 'https://git.example/acme/infra.git'],
  ['gitlab_hosted', 'https://git.example/acme/infra.git'],
  ['bitbucket_server', 'https://git.example/scm/acme/infra.git'],
] as const)('%s is cloned from %s', ([name, url]) => {
  const provider = provide(name);
  expect(provider.cloneUrl(repositoryAt(name))).toBe(url);
  expect(provider.commitUrl(repositoryAt(name), A)).toContain(A);
});
