/** Repositories that workspaces are connected to, and the work at their providers that is still to be done. */
import { createHash } from 'node:crypto';
import { type Reads, readableOnly, type Store, type Transaction } from '@keelson/storage';
import { keyedRecords } from '../../base/keyed-records.ts';
import type { OAuthClient, RequestSigning } from './domain/oauth-client.ts';
import type { RepositoryEvent } from './domain/repository-event.ts';
import type { RepositoryHook } from './domain/repository-hook.ts';
import type { VcsRepository } from './domain/workspace.ts';

/** OAuth token id, digest of the identifier: one for all workspaces with this repository. */
const repositoryHooks = keyedRecords<RepositoryHook>('shared/repository-hooks/');

/** Keyed by `whk-…`. */
const repositoryHookPlaces = keyedRecords<{
  readonly tokenId: string;
  readonly identifier: string;
}>('shared/repository-hook-places/');

/** `whk-…`, `ws-…`. */
export const repositoryWorkspaces = keyedRecords<Record<never, never>>(
  'shared/repository-workspaces/',
);

const digestOf = (identifier: string): string =>
  createHash('sha256').update(identifier).digest('hex');

export const findRepositoryHook = async (
  reads: Reads,
  repository: Pick<VcsRepository, 'oauthTokenId' | 'identifier'> | null,
): Promise<RepositoryHook | undefined> =>
  repository?.oauthTokenId
    ? repositoryHooks.find(reads, repository.oauthTokenId, digestOf(repository.identifier))
    : undefined;

export const findRepositoryHookById = async (
  reads: Reads,
  hookId: string,
): Promise<RepositoryHook | undefined> => {
  const place = await repositoryHookPlaces.find(reads, hookId);
  return (
    place &&
    findRepositoryHook(reads, { oauthTokenId: place.tokenId, identifier: place.identifier })
  );
};

/** The repositories of all organizations. */
export const listRepositoryHookIds = (reads: Reads): Promise<readonly string[]> =>
  repositoryHookPlaces.keys(reads, []);

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

export const writeRepositoryHook = (tx: Transaction, hook: RepositoryHook): void => {
  const { id, tokenId, identifier } = hook;
  repositoryHooks.write(tx, [tokenId, digestOf(identifier)], hook);
  repositoryHookPlaces.write(tx, [id], { tokenId, identifier });
};

export const deleteRepositoryHook = (tx: Transaction, hook: RepositoryHook): void => {
  repositoryHooks.delete(tx, hook.tokenId, digestOf(hook.identifier));
  repositoryHookPlaces.delete(tx, hook.id);
};

/** Addresses of a provider, and the token that opens them. */
export interface ProviderConnection
  extends Pick<OAuthClient, 'serviceProvider' | 'httpUrl' | 'apiUrl' | 'agentPoolId'> {
  readonly token: string;
  /** null: the token is sent as it is. */
  readonly signing: RequestSigning | null;
}

export type RepositoryWork =
  | { readonly kind: 'register'; readonly hookId: string }
  | {
      /** Contains the provider's address and credentials, because the hook and its connection are deleted. */
      readonly kind: 'unregister';
      readonly connection: ProviderConnection;
      readonly identifier: string;
      readonly providerId: string;
    }
  | {
      readonly kind: 'fetch';
      readonly hookId: string;
      readonly event: RepositoryEvent;
      /** Key of the delivery that reported the event; null for a connection. */
      readonly deliveryKey: string | null;
    }
  | { readonly kind: 'report'; readonly runId: string };

export interface QueuedWork {
  /** Attempts that failed. */
  readonly attempts: number;
  readonly work: RepositoryWork;
}

/** Organization id; time from which it is due in milliseconds with 13 digits, "-", a name: in the order in which it is due. */
export const repositoryWork = keyedRecords<QueuedWork>('shared/repository-work/');

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
