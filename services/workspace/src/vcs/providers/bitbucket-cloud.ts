/**
 * Bitbucket Cloud. https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/,
 * https://developer.atlassian.com/cloud/bitbucket/rest/
 */
import { Type } from 'typebox';
import type { DeliveredEvent, Sender } from '../../workspaces/model/domain/repository-event.ts';
import {
  COMMIT,
  encodeSegments,
  REF_NAME,
  requirePayload,
  SHOWN,
  safeUrl,
  shown,
  trimUrl,
} from './payloads.ts';
import type { CommitState, Provider, RemoteRepository } from './provider.ts';
import { isSignatureOf, sha256Of } from './signatures.ts';

const LINK = Type.Optional(Type.Object({ href: Type.String() }));
const ACTOR = Type.Optional(
  Type.Object({
    display_name: SHOWN,
    nickname: SHOWN,
    links: Type.Optional(Type.Object({ html: LINK, avatar: LINK })),
  }),
);
const CHANGE = Type.Object({
  new: Type.Union([
    Type.Object({
      type: Type.String(),
      name: REF_NAME,
      target: Type.Object({ hash: COMMIT }),
    }),
    Type.Null(),
  ]),
  old: Type.Optional(
    Type.Union([Type.Object({ target: Type.Object({ hash: COMMIT }) }), Type.Null()]),
  ),
  links: Type.Optional(Type.Object({ html: LINK })),
});
const PUSH = Type.Object({
  push: Type.Object({ changes: Type.Array(CHANGE, { maxItems: 100 }) }),
  actor: ACTOR,
});
/** Pull requests have abbreviated hashes. */
const END = Type.Object({
  branch: Type.Object({ name: REF_NAME }),
  repository: Type.Optional(Type.Union([Type.Object({ full_name: Type.String() }), Type.Null()])),
});
const PULL_REQUEST = Type.Object({
  pullrequest: Type.Object({
    id: Type.Integer(),
    title: SHOWN,
    description: SHOWN,
    source: END,
    destination: END,
    links: Type.Optional(Type.Object({ html: LINK })),
  }),
  actor: ACTOR,
});

interface Actor {
  readonly display_name?: string | null;
  readonly nickname?: string | null;
  readonly links?: { readonly html?: { href: string }; readonly avatar?: { href: string } };
}

const toSender = (actor: Actor | undefined): Sender | null => {
  const username = actor?.nickname ?? actor?.display_name;
  if (!username) return null;
  return {
    username: shown(username),
    avatarUrl: safeUrl(actor?.links?.avatar?.href),
    htmlUrl: safeUrl(actor?.links?.html?.href),
  };
};

const toPushes = (payload: unknown): readonly DeliveredEvent[] => {
  const { push, actor } = requirePayload(PUSH, payload);
  const sender = toSender(actor);
  return push.changes.flatMap((change): readonly DeliveredEvent[] => {
    if (change.new === null) return [];
    const { type, name, target } = change.new;
    if (type === 'tag') return [{ kind: 'tag', tag: name, commitSha: target.hash, sender }];
    return [
      {
        kind: 'push',
        branch: name,
        commitSha: target.hash,
        baseSha: change.old?.target.hash ?? null,
        compareUrl: safeUrl(change.links?.html?.href),
        sender,
      },
    ];
  });
};

const toPullRequest = (payload: unknown): readonly DeliveredEvent[] => {
  const { pullrequest: pull, actor } = requirePayload(PULL_REQUEST, payload);
  if (pull.source.repository?.full_name !== pull.destination.repository?.full_name) return [];
  return [
    {
      kind: 'pull-request',
      commitSha: null,
      sender: toSender(actor),
      number: pull.id,
      title: shown(pull.title),
      body: shown(pull.description),
      url: safeUrl(pull.links?.html?.href),
      sourceBranch: pull.source.branch.name,
      targetBranch: pull.destination.branch.name,
      baseSha: null,
    },
  ];
};

const STATES = {
  running: 'INPROGRESS',
  attention: 'INPROGRESS',
  success: 'SUCCESSFUL',
  failure: 'FAILED',
  canceled: 'STOPPED',
} as const satisfies Record<CommitState, string>;

/** Longest key of a build status. */
const MAX_KEY_LENGTH = 40;

const repositoryApi = ({ connection, identifier }: RemoteRepository): string =>
  `${trimUrl(connection.apiUrl)}/repositories/${encodeSegments(identifier)}`;

const toHeaders = ({ connection }: RemoteRepository) => ({
  authorization: `Bearer ${connection.token}`,
});

export const BITBUCKET_CLOUD: Provider = {
  source: 'bitbucket',
  username: 'x-token-auth',
  signsBody: true,
  isAuthentic: ({ headers, body }, secret) =>
    isSignatureOf(sha256Of(headers['x-hub-signature']), body, secret),
  deliveryId: (headers) => headers['x-request-uuid'],
  eventName: (headers) => headers['x-event-key'] ?? '',
  toEvents: (eventName, payload) => {
    if (eventName === 'repo:push') return toPushes(payload);
    const isPlanned = eventName === 'pullrequest:created' || eventName === 'pullrequest:updated';
    return isPlanned ? toPullRequest(payload) : [];
  },
  createHook: (repository, { url, secret }) => ({
    method: 'POST',
    url: `${repositoryApi(repository)}/hooks`,
    headers: toHeaders(repository),
    body: {
      description: 'Keelson',
      url,
      secret,
      active: true,
      events: ['repo:push', 'pullrequest:created', 'pullrequest:updated'],
    },
  }),
  hookIdOf: (answer) => requirePayload(Type.Object({ uuid: Type.String() }), answer).uuid,
  deleteHook: (repository, hookId) => ({
    method: 'DELETE',
    url: `${repositoryApi(repository)}/hooks/${encodeURIComponent(hookId)}`,
    headers: toHeaders(repository),
  }),
  reportStatus: (repository, { commitSha, state, context, description, targetUrl }) => ({
    method: 'POST',
    url: `${repositoryApi(repository)}/commit/${commitSha}/statuses/build`,
    headers: toHeaders(repository),
    body: {
      key: context.slice(-MAX_KEY_LENGTH),
      name: context,
      state: STATES[state],
      description,
      url: targetUrl,
    },
  }),
  cloneUrl: ({ connection, identifier }) =>
    `${trimUrl(connection.httpUrl)}/${encodeSegments(identifier)}.git`,
  commitUrl: ({ connection, identifier }, commitSha) =>
    `${trimUrl(connection.httpUrl)}/${identifier}/commits/${commitSha}`,
};
