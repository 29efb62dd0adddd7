/**
 * GitLab. https://docs.gitlab.com/user/project/integrations/webhook_events/,
 * https://docs.gitlab.com/api/commits/#set-commit-pipeline-status
 */
import { Type } from 'typebox';
import type { DeliveredEvent, Sender } from '../../workspaces/model/domain/repository-event.ts';
import { isSameSecret } from '../model/secret-comparison.ts';
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

const PUSH = Type.Object({
  ref: Type.String({ maxLength: 300 }),
  before: Type.String({ maxLength: 64 }),
  after: Type.String({ maxLength: 64 }),
  checkout_sha: Type.Optional(Type.Union([COMMIT, Type.Null()])),
  user_username: SHOWN,
  user_avatar: SHOWN,
});
const MERGE_REQUEST = Type.Object({
  user: Type.Optional(Type.Object({ username: SHOWN, avatar_url: SHOWN })),
  object_attributes: Type.Object({
    iid: Type.Integer(),
    action: Type.Optional(Type.String()),
    title: SHOWN,
    description: SHOWN,
    url: SHOWN,
    oldrev: Type.Optional(Type.String()),
    source_branch: REF_NAME,
    target_branch: REF_NAME,
    source_project_id: Type.Integer(),
    target_project_id: Type.Integer(),
    last_commit: Type.Object({ id: COMMIT }),
  }),
});

const toSender = (username: string | null | undefined, avatar: string | null | undefined) =>
  username
    ? ({ username: shown(username), avatarUrl: safeUrl(avatar), htmlUrl: null } satisfies Sender)
    : null;

const toPush = (payload: unknown): readonly DeliveredEvent[] => {
  const push = requirePayload(PUSH, payload);
  const ref = splitRef(push.ref);
  // `after` of an annotated tag is the tag object, and `checkout_sha` its commit.
  const commitSha = push.checkout_sha ?? null;
  if (ref === undefined || commitSha === null || commitOrNone(push.after) === null) return [];
  requirePayload(REF_NAME, ref.name);
  const sent = { commitSha, sender: toSender(push.user_username, push.user_avatar) };
  return ref.kind === 'tag'
    ? [{ ...sent, kind: 'tag', tag: ref.name }]
    : [
        {
          ...sent,
          kind: 'push',
          branch: ref.name,
          baseSha: commitOrNone(push.before),
          compareUrl: null,
        },
      ];
};

const toMergeRequest = (payload: unknown): readonly DeliveredEvent[] => {
  const { object_attributes: merge, user } = requirePayload(MERGE_REQUEST, payload);
  const { action = '' } = merge;
  // An update names the commit before only if there are new commits.
  const isPlanned =
    action === 'open' || action === 'reopen' || (action === 'update' && merge.oldrev !== undefined);
  if (!isPlanned || merge.source_project_id !== merge.target_project_id) return [];
  return [
    {
      kind: 'pull-request',
      commitSha: merge.last_commit.id,
      sender: toSender(user?.username, user?.avatar_url),
      number: merge.iid,
      title: shown(merge.title),
      body: shown(merge.description),
      url: safeUrl(merge.url),
      sourceBranch: merge.source_branch,
      targetBranch: merge.target_branch,
      baseSha: null,
    },
  ];
};

const STATES = {
  running: 'running',
  attention: 'pending',
  success: 'success',
  failure: 'failed',
  canceled: 'canceled',
} as const satisfies Record<CommitState, string>;

const projectApi = ({ connection, identifier }: RemoteRepository): string =>
  `${trimUrl(connection.apiUrl)}/projects/${encodeURIComponent(identifier)}`;

const toHeaders = ({ connection }: RemoteRepository) => ({
  authorization: `Bearer ${connection.token}`,
});

export const GITLAB: Provider = {
  source: 'gitlab',
  username: 'oauth2',
  // The secret is sent with the request and signs nothing.
  signsBody: false,
  isAuthentic: ({ headers }, secret) => isSameSecret(headers['x-gitlab-token'], secret),
  // The latter is the same when a delivery is sent again.
  deliveryId: (headers) => headers['idempotency-key'] ?? headers['x-gitlab-event-uuid'],
  eventName: (headers) => headers['x-gitlab-event'] ?? '',
  toEvents: (eventName, payload) => {
    if (eventName === 'Push Hook' || eventName === 'Tag Push Hook') return toPush(payload);
    return eventName === 'Merge Request Hook' ? toMergeRequest(payload) : [];
  },
  createHook: (repository, { url, secret }) => ({
    method: 'POST',
    url: `${projectApi(repository)}/hooks`,
    headers: toHeaders(repository),
    body: {
      url,
      token: secret,
      push_events: true,
      tag_push_events: true,
      merge_requests_events: true,
      enable_ssl_verification: true,
    },
  }),
  hookIdOf: (answer) => String(requirePayload(Type.Object({ id: Type.Integer() }), answer).id),
  deleteHook: (repository, hookId) => ({
    method: 'DELETE',
    url: `${projectApi(repository)}/hooks/${hookId}`,
    headers: toHeaders(repository),
  }),
  reportStatus: (repository, { commitSha, state, context, description, targetUrl }) => ({
    method: 'POST',
    url: `${projectApi(repository)}/statuses/${commitSha}`,
    headers: toHeaders(repository),
    body: { state: STATES[state], name: context, description, target_url: targetUrl },
  }),
  cloneUrl: ({ connection, identifier }) =>
    `${trimUrl(connection.httpUrl)}/${encodeSegments(identifier)}.git`,
  commitUrl: ({ connection, identifier }, commitSha) =>
    `${trimUrl(connection.httpUrl)}/${identifier}/-/commit/${commitSha}`,
};
