/**
 * Bitbucket Server and Data Center.
 * https://confluence.atlassian.com/bitbucketserver/event-payload-938025882.html,
 * https://developer.atlassian.com/server/bitbucket/rest/
 */
import { isSshAddress, RepositoryFailure } from '@keelson/repositories';
import { Type } from 'typebox';
import type { OAuthClient } from '../../workspaces/model/domain/oauth-client.ts';
import type { DeliveredEvent, Sender } from '../../workspaces/model/domain/repository-event.ts';
import {
  COMMIT,
  commitOrNone,
  REF_NAME,
  requirePayload,
  SHOWN,
  shown,
  splitRef,
  trimUrl,
} from './payloads.ts';
import type { CommitState, Provider, ProviderRequest, RemoteRepository } from './provider.ts';
import { toAuthorization } from './request-signature.ts';
import { isSignatureOf, sha256Of } from './signatures.ts';

const ACTOR = Type.Optional(Type.Object({ name: SHOWN }));
const REFS_CHANGED = Type.Object({
  actor: ACTOR,
  changes: Type.Array(
    Type.Object({
      ref: Type.Object({ id: Type.String({ maxLength: 300 }) }),
      fromHash: COMMIT,
      toHash: COMMIT,
      type: Type.String(),
    }),
    { maxItems: 1000 },
  ),
});
const END = Type.Object({
  displayId: REF_NAME,
  latestCommit: COMMIT,
  repository: Type.Object({ id: Type.Integer() }),
});
const PULL_REQUEST = Type.Object({
  actor: ACTOR,
  pullRequest: Type.Object({
    id: Type.Integer(),
    title: SHOWN,
    description: SHOWN,
    fromRef: END,
    toRef: END,
  }),
});

const toSender = (actor: { readonly name?: string | null } | undefined): Sender | null =>
  actor?.name ? { username: shown(actor.name), avatarUrl: null, htmlUrl: null } : null;

const toPushes = (payload: unknown): readonly DeliveredEvent[] => {
  const { changes, actor } = requirePayload(REFS_CHANGED, payload);
  const sender = toSender(actor);
  return changes.flatMap(({ ref: { id }, fromHash, toHash, type }): readonly DeliveredEvent[] => {
    const ref = splitRef(id);
    if (ref === undefined || type === 'DELETE') return [];
    requirePayload(REF_NAME, ref.name);
    if (ref.kind === 'tag') return [{ kind: 'tag', tag: ref.name, commitSha: null, sender }];
    return [
      {
        kind: 'push',
        branch: ref.name,
        commitSha: toHash,
        baseSha: commitOrNone(fromHash),
        compareUrl: null,
        sender,
      },
    ];
  });
};

const toPullRequest = (payload: unknown): readonly DeliveredEvent[] => {
  const { pullRequest: pull, actor } = requirePayload(PULL_REQUEST, payload);
  if (pull.fromRef.repository.id !== pull.toRef.repository.id) return [];
  return [
    {
      kind: 'pull-request',
      commitSha: pull.fromRef.latestCommit,
      sender: toSender(actor),
      number: pull.id,
      title: shown(pull.title),
      body: shown(pull.description),
      url: null,
      sourceBranch: pull.fromRef.displayId,
      targetBranch: pull.toRef.displayId,
      baseSha: pull.toRef.latestCommit,
    },
  ];
};

const STATES = {
  running: 'INPROGRESS',
  attention: 'INPROGRESS',
  success: 'SUCCESSFUL',
  failure: 'FAILED',
  canceled: 'CANCELLED',
} as const satisfies Record<CommitState, string>;

/** `:project/:repository`; the project of a user begins with `~`. */
const split = (identifier: string): readonly [string, string] => {
  const [project = '', ...repository] = identifier.split('/');
  return [encodeURIComponent(project), encodeURIComponent(repository.join('/'))];
};

/** The clients' `api-url` is the address of the server, with or without the path of its API. */
export const serverOf = ({ apiUrl }: Pick<OAuthClient, 'apiUrl'>): string =>
  trimUrl(apiUrl).replace(/\/rest(?:\/api\/(?:1\.0|latest))?$/, '');

const repositoryApi = (repository: RemoteRepository): string => {
  const [project, name] = split(repository.identifier);
  return `${serverOf(repository.connection)}/rest/api/1.0/projects/${project}/repos/${name}`;
};

/** The request with the token, or signed with the key of the client. */
const authorized = (
  { connection: { token, signing } }: RemoteRepository,
  request: Omit<ProviderRequest, 'headers'>,
): ProviderRequest => ({
  ...request,
  headers: {
    authorization: signing === null ? `Bearer ${token}` : toAuthorization(signing, token, request),
  },
});

const CLONE_LINKS = Type.Object({
  links: Type.Object({
    clone: Type.Array(Type.Object({ name: Type.String(), href: Type.String({ maxLength: 2048 }) })),
  }),
});

export const BITBUCKET_SERVER: Provider = {
  source: 'bitbucket',
  username: 'x-token-auth',
  signsBody: true,
  isAuthentic: ({ headers, body }, secret) =>
    isSignatureOf(sha256Of(headers['x-hub-signature']), body, secret),
  deliveryId: (headers) => headers['x-request-id'],
  eventName: (headers) => headers['x-event-key'] ?? '',
  toEvents: (eventName, payload) => {
    if (eventName === 'repo:refs_changed') return toPushes(payload);
    const isPlanned = eventName === 'pr:opened' || eventName === 'pr:from_ref_updated';
    return isPlanned ? toPullRequest(payload) : [];
  },
  createHook: (repository, { url, secret }) =>
    authorized(repository, {
      method: 'POST',
      url: `${repositoryApi(repository)}/webhooks`,
      body: {
        name: 'Keelson',
        url,
        active: true,
        events: ['repo:refs_changed', 'pr:opened', 'pr:from_ref_updated'],
        configuration: { secret },
      },
    }),
  hookIdOf: (answer) => String(requirePayload(Type.Object({ id: Type.Integer() }), answer).id),
  deleteHook: (repository, hookId) =>
    authorized(repository, {
      method: 'DELETE',
      url: `${repositoryApi(repository)}/webhooks/${hookId}`,
    }),
  reportStatus: (repository, { commitSha, state, context, description, targetUrl }) =>
    authorized(repository, {
      method: 'POST',
      url: `${serverOf(repository.connection)}/rest/build-status/1.0/commits/${commitSha}`,
      body: { key: context, name: context, state: STATES[state], description, url: targetUrl },
    }),
  cloneUrl: ({ connection, identifier }) => {
    const [project, name] = split(identifier);
    return `${trimUrl(connection.httpUrl)}/scm/${project}/${name}.git`;
  },
  ssh: {
    findAddress: (repository) =>
      authorized(repository, { method: 'GET', url: repositoryApi(repository) }),
    addressOf: (answer) => {
      const { links } = requirePayload(CLONE_LINKS, answer);
      const found = links.clone.find(({ name }) => name === 'ssh')?.href ?? '';
      if (isSshAddress(found)) return found;
      throw new RepositoryFailure('the provider names no address of the repository for SSH');
    },
  },
  commitUrl: ({ connection, identifier }, commitSha) => {
    const [project, name] = split(identifier);
    return `${trimUrl(connection.httpUrl)}/projects/${project}/repos/${name}/commits/${commitSha}`;
  },
};
