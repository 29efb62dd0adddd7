/** Repositories that workspaces are connected to, and the work at their providers that is still to be done. */

import { createHash } from 'node:crypto';
import {
  collection,
  type Reads,
  readableOnly,
  rowContent,
  type Store,
  type Transaction,
} from '@keelson/storage';
import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { oauthClientShape, requestSigningShape } from './domain/oauth-client.ts';
import { repositoryEventShape } from './domain/repository-event.ts';
import { type RepositoryHook, repositoryHookShape } from './domain/repository-hook.ts';
import type { VcsRepository } from './domain/workspace.ts';

const digestOf = (identifier: string): string =>
  createHash('sha256').update(identifier).digest('hex');

/** OAuth token id, digest of the identifier: one for all workspaces with this repository. "id" is `whk-…`. */
const repositoryHooks = collection('repository-hooks', {
  scope: 'shared',
  version: 1,
  shape: repositoryHookShape,
  index: [
    {
      name: 'id',
      unique: true,
      values: ({ id }) => [id],
      rows: {
        at: 'repository-hook-places',
        content: rowContent(
          Type.Object({ tokenId: Type.String(), identifier: Type.String() }),
          ({ tokenId, identifier }: RepositoryHook) => ({ tokenId, identifier }),
          ({ tokenId, identifier }) => `${tokenId}/${digestOf(identifier)}`,
        ),
      },
    },
  ],
});

/** `whk-…`, `ws-…`. */
export const repositoryWorkspaces = collection('repository-workspaces', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({}),
  owner: { kind: 'repository-hook', by: '*' },
});

export const findRepositoryHook = async (
  reads: Reads,
  repository: Pick<VcsRepository, 'oauthTokenId' | 'identifier'> | null,
): Promise<RepositoryHook | undefined> =>
  repository?.oauthTokenId
    ? repositoryHooks.find(reads, repository.oauthTokenId, digestOf(repository.identifier))
    : undefined;

export const findRepositoryHookById = (
  reads: Reads,
  hookId: string,
): Promise<RepositoryHook | undefined> => repositoryHooks.by.id.find(reads, hookId);

/** The repositories of all organizations. */
export const listRepositoryHookIds = (reads: Reads): Promise<readonly string[]> =>
  repositoryHooks.by.id.values(reads);

/** The repositories that are reached with a token. */
export const listRepositoryHooks = async (
  reads: Reads,
  tokenId: string,
): Promise<readonly RepositoryHook[]> => {
  const digests = await repositoryHooks.keys(reads, [tokenId]);
  const hooks = await Promise.all(
    digests.map((digest) => repositoryHooks.find(reads, tokenId, digest)),
  );
  return hooks.filter((hook) => hook !== undefined);
};

export const writeRepositoryHook = (tx: Transaction, hook: RepositoryHook): Promise<void> =>
  repositoryHooks.write(tx, [hook.tokenId, digestOf(hook.identifier)], hook);

export const deleteRepositoryHook = (
  tx: Transaction,
  { tokenId, identifier }: RepositoryHook,
): Promise<void> => repositoryHooks.delete(tx, tokenId, digestOf(identifier));

/** Addresses of a provider, and the token that opens them. */
export const providerConnectionShape = Type.Object({
  ...Type.Pick(oauthClientShape, ['serviceProvider', 'httpUrl', 'apiUrl', 'agentPoolId'])
    .properties,
  token: Type.String(),
  /** Null if the token is sent as it is. */
  signing: nullable(requestSigningShape),
});
export type ProviderConnection = Shaped<typeof providerConnectionShape>;

export const repositoryWorkShape = Type.Union([
  Type.Object({ kind: Type.Literal('register'), hookId: Type.String() }),
  Type.Object({
    /** Contains the provider's address and credentials, because the hook and its connection are deleted. */
    kind: Type.Literal('unregister'),
    connection: providerConnectionShape,
    identifier: Type.String(),
    providerId: Type.String(),
  }),
  Type.Object({
    kind: Type.Literal('fetch'),
    hookId: Type.String(),
    event: repositoryEventShape,
    /** Key of the delivery that reported the event; null for a connection. */
    deliveryKey: nullable(Type.String()),
  }),
  Type.Object({ kind: Type.Literal('report'), runId: Type.String() }),
]);
export type RepositoryWork = Shaped<typeof repositoryWorkShape>;

export const queuedWorkShape = Type.Object({
  /** Attempts that failed. */
  attempts: Type.Number(),
  work: repositoryWorkShape,
});
export type QueuedWork = Shaped<typeof queuedWorkShape>;

/** Organization id; time from which it is due in milliseconds with 13 digits, "-", a name: in the order in which it is due. */
export const repositoryWork = collection('repository-work', {
  scope: 'shared',
  version: 1,
  shape: queuedWorkShape,
});

/** Where work is in `repositoryWork`. */
export type WorkKey = readonly [organizationId: string, key: string];

/** Time from which the work of a key is due. */
export const dueAtMsOf = ([, key]: WorkKey): number => Number(key.slice(0, 13));

/** The name of the work, which it keeps when it is postponed. */
export const workNameOf = ([, key]: WorkKey): string => key.slice('0000000000000-'.length);

/** Organizations that have work. */
export const listWorkingOrganizations = async (reads: Reads): Promise<readonly string[]> =>
  (await repositoryWork.keys(reads, [])).map((name) => name.replace(/\/$/, ''));

/** The work of an organization that has been due for longest. Damaged records are passed over. */
export const findDueWork = async (
  store: Store,
  organizationId: string,
  nowMs: number,
): Promise<{ readonly key: WorkKey; readonly queued: QueuedWork } | undefined> => {
  let after = '';
  for (;;) {
    const options = { limit: 1, ...(after !== '' && { after }) };
    const [name] = await repositoryWork.keys(store, [organizationId], options);
    if (name === undefined || dueAtMsOf([organizationId, name]) > nowMs) return undefined;
    const queued = await repositoryWork.find(readableOnly(store), organizationId, name);
    if (queued !== undefined) return { key: [organizationId, name], queued };
    after = name;
  }
};

/** @param name distinguishes work that is due at the same time */
export const toWorkKey = (dueAtMs: number, name: string): string =>
  `${String(dueAtMs).padStart(13, '0')}-${name}`;

/** @param name see `toWorkKey` */
export const queueRepositoryWork = (
  tx: Transaction,
  organizationId: string,
  work: RepositoryWork,
  { dueAtMs, name, attempts = 0 }: { dueAtMs: number; name: string; attempts?: number },
): void => repositoryWork.write(tx, [organizationId, toWorkKey(dueAtMs, name)], { attempts, work });
