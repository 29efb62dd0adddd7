/**
 * GitHub and GitHub Enterprise, and Gitea and Forgejo, whose payloads have the same form.
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads,
 * https://docs.gitea.com/usage/webhooks
 */
import { Type } from 'typebox';
import type { DeliveredEvent, Sender } from '../../workspaces/model/domain/repository-event.ts';
import type { ProviderConnection } from '../../workspaces/model/repository-records.ts';
import {
  COMMIT,
  commitOrNone,
  encodeSegments,
  REF_NAME,
  requirePayload,
  SHOWN,
  safeUrl,
  shown,
  splitRef,
  trimUrl,
} from './payloads.ts';
import type { CommitState, Provider, RemoteRepository } from './provider.ts';
import { isSignatureOf, sha256Of } from './signatures.ts';

const SENDER = Type.Optional(
  Type.Object({ login: Type.String(), avatar_url: SHOWN, html_url: SHOWN }),
);
const PUSH = Type.Object({
  ref: Type.String({ maxLength: 300 }),
  before: Type.String({ maxLength: 64 }),
  after: COMMIT,
  compare: SHOWN,
  compare_url: SHOWN,
  sender: SENDER,
});
const BRANCH = Type.Object({
  ref: REF_NAME,
  sha: COMMIT,
  repo: Type.Optional(
    Type.Union([Type.Object({ full_name: Type.String({ maxLength: 512 }) }), Type.Null()]),
  ),
});
const PULL_REQUEST = Type.Object({
  action: Type.String(),
  number: Type.Integer(),
  pull_request: Type.Object({
    title: SHOWN,
    body: SHOWN,
    html_url: SHOWN,
    merge_base: Type.Optional(Type.String()),
    head: BRANCH,
    base: BRANCH,
  }),
  sender: SENDER,
});

const toSender = (
  sender: { login: string; avatar_url?: string | null; html_url?: string | null } | undefined,
): Sender | null =>
  sender === undefined
    ? null
    : {
        username: shown(sender.login),
        avatarUrl: safeUrl(sender.avatar_url),
        htmlUrl: safeUrl(sender.html_url),
      };

const toPush = (payload: unknown): readonly DeliveredEvent[] => {
  const push = requirePayload(PUSH, payload);
  const ref = splitRef(push.ref);
  const commitSha = commitOrNone(push.after);
  // The deletion of a branch or tag has no commit.
  if (ref === undefined || commitSha === null) return [];
  requirePayload(REF_NAME, ref.name);
  const sent = { commitSha, sender: toSender(push.sender) };
  return ref.kind === 'tag'
    ? [{ ...sent, kind: 'tag', tag: ref.name }]
    : [
        {
          ...sent,
          kind: 'push',
          branch: ref.name,
          baseSha: commitOrNone(push.before),
          compareUrl: safeUrl(push.compare ?? push.compare_url),
        },
      ];
};

const PLANNED_ACTIONS: ReadonlySet<string> = new Set([
  'opened',
  'reopened',
  'synchronize',
  'synchronized',
]);

const toPullRequest = (payload: unknown): readonly DeliveredEvent[] => {
  const { action, number, pull_request: pull, sender } = requirePayload(PULL_REQUEST, payload);
  if (!PLANNED_ACTIONS.has(action)) return [];
  // Anyone may own a fork, and a plan would run its code with the workspace's secrets.
  if (pull.head.repo?.full_name !== pull.base.repo?.full_name) return [];
  // Gitea and Forgejo name no branch for the AGit flow, in which whoever may read the repository offers commits.
  if (pull.head.ref.startsWith('refs/')) return [];
  return [
    {
      kind: 'pull-request',
      commitSha: pull.head.sha,
      sender: toSender(sender),
      number,
      title: shown(pull.title),
      body: shown(pull.body),
      url: safeUrl(pull.html_url),
      sourceBranch: pull.head.ref,
      targetBranch: pull.base.ref,
      baseSha: commitOrNone(pull.merge_base ?? pull.base.sha),
    },
  ];
};

const toEvents = (eventName: string, payload: unknown): readonly DeliveredEvent[] => {
  if (eventName === 'push') return toPush(payload);
  return eventName === 'pull_request' ? toPullRequest(payload) : [];
};

const STATES = {
  running: 'pending',
  attention: 'pending',
  success: 'success',
  failure: 'failure',
  canceled: 'error',
} as const satisfies Record<CommitState, string>;

const repositoryApi = ({ connection, identifier }: RemoteRepository): string =>
  `${trimUrl(connection.apiUrl)}/repos/${encodeSegments(identifier)}`;

const HOOK = Type.Object({ id: Type.Integer() });

/** Requests and links that GitHub and Gitea have in common. */
const common = (headersOf: (connection: ProviderConnection) => Record<string, string>) =>
  ({
    signsBody: true,
    toEvents,
    hookIdOf: (answer) => String(requirePayload(HOOK, answer).id),
    deleteHook: (repository, hookId) => ({
      method: 'DELETE',
      url: `${repositoryApi(repository)}/hooks/${hookId}`,
      headers: headersOf(repository.connection),
    }),
    reportStatus: (repository, { commitSha, state, context, description, targetUrl }) => ({
      method: 'POST',
      url: `${repositoryApi(repository)}/statuses/${commitSha}`,
      headers: headersOf(repository.connection),
      body: { state: STATES[state], context, description, target_url: targetUrl },
    }),
    cloneUrl: ({ connection, identifier }) =>
      `${trimUrl(connection.httpUrl)}/${encodeSegments(identifier)}.git`,
    commitUrl: ({ connection, identifier }, commitSha) =>
      `${trimUrl(connection.httpUrl)}/${identifier}/commit/${commitSha}`,
  }) satisfies Partial<Provider>;

const toGitHubHeaders = ({ token }: ProviderConnection) => ({
  accept: 'application/vnd.github+json',
  authorization: `Bearer ${token}`,
  'x-github-api-version': '2022-11-28',
});

export const GITHUB: Provider = {
  ...common(toGitHubHeaders),
  source: 'github',
  username: 'x-access-token',
  isAuthentic: ({ headers, body }, secret) =>
    isSignatureOf(sha256Of(headers['x-hub-signature-256']), body, secret),
  deliveryId: (headers) => headers['x-github-delivery'],
  eventName: (headers) => headers['x-github-event'] ?? '',
  createHook: (repository, { url, secret }) => ({
    method: 'POST',
    url: `${repositoryApi(repository)}/hooks`,
    headers: toGitHubHeaders(repository.connection),
    body: {
      name: 'web',
      active: true,
      events: ['push', 'pull_request'],
      config: { url, secret, content_type: 'json', insecure_ssl: '0' },
    },
  }),
};

const toGiteaHeaders = ({ token }: ProviderConnection) => ({
  accept: 'application/json',
  authorization: `token ${token}`,
});

const gitea = (type: 'gitea' | 'forgejo'): Provider => ({
  ...common(toGiteaHeaders),
  source: type,
  username: 'oauth2',
  isAuthentic: ({ headers, body }, secret) =>
    isSignatureOf(headers['x-gitea-signature'], body, secret),
  deliveryId: (headers) => headers['x-gitea-delivery'],
  eventName: (headers) => headers['x-gitea-event'] ?? '',
  createHook: (repository, { url, secret }) => ({
    method: 'POST',
    url: `${repositoryApi(repository)}/hooks`,
    headers: toGiteaHeaders(repository.connection),
    body: {
      type,
      active: true,
      branch_filter: '*',
      events: ['push', 'pull_request_only', 'pull_request_sync'],
      config: { url, secret, content_type: 'json' },
    },
  }),
});

export const GITEA: Provider = gitea('gitea');
export const FORGEJO: Provider = gitea('forgejo');
