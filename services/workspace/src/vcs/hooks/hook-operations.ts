/** Webhooks at providers: registered for the first workspace of a repository, removed after the last. */
import { randomBytes } from 'node:crypto';
import { newResourceId } from '@keelson/jsonapi';
import { deleteOwned, type Transaction } from '@keelson/storage';
import type { OAuthClient } from '../../workspaces/model/domain/oauth-client.ts';
import { type RepositoryHook, webhookUrl } from '../../workspaces/model/domain/repository-hook.ts';
import type { VcsRepository, Workspace } from '../../workspaces/model/domain/workspace.ts';
import {
  deleteRepositoryHook,
  findRepositoryHook,
  findRepositoryHookById,
  listRepositoryHooks,
  queueRepositoryWork,
  type RepositoryWork,
  repositoryWorkspaces,
  writeRepositoryHook,
} from '../../workspaces/model/repository-records.ts';
import type { WorkspaceChange } from '../../workspaces/seams/workspace-steps.ts';
import { withdrawConnection } from '../model/waiting-fetches.ts';
import type { ProviderErrand } from '../providers/provider-errand.ts';
import { PROVIDERS } from '../providers/providers.ts';
import { loadRepository } from '../providers/remote-repository-operations.ts';
import type { VcsContext } from '../seams/vcs-context.ts';

/** Context of the registration of webhooks. */
export type WebhookContext = Pick<VcsContext, 'clock' | 'publicUrl'>;

const SECRET_BYTES = 32;

const NO_ADDRESS =
  'no webhook is registered, because KEELSON_PUBLIC_URL is not set: the provider would not know where to send events';

const newHook = (
  { organizationId }: Workspace,
  tokenId: string,
  identifier: string,
  publicUrl: string | null,
): RepositoryHook => ({
  id: newResourceId('whk'),
  organizationId,
  tokenId,
  identifier,
  secret: randomBytes(SECRET_BYTES).toString('hex'),
  publicUrl,
  providerId: null,
  formerProviderId: null,
  defaultBranch: null,
  hookProblem: publicUrl === null ? NO_ADDRESS : null,
  fetchProblem: null,
});

export const queueRegistration = (tx: Transaction, hook: RepositoryHook, nowMs: number): void => {
  if (hook.publicUrl === null) return;
  const work = { kind: 'register', hookId: hook.id } as const;
  queueRepositoryWork(tx, hook.organizationId, work, { dueAtMs: nowMs, name: hook.id });
};

/** Queues the removal of a webhook at its provider. */
const queueRemoval = async (
  tx: Transaction,
  hook: RepositoryHook,
  providerId: string | null,
  nowMs: number,
): Promise<void> => {
  const found = await loadRepository(tx, hook);
  if (found === undefined || providerId === null) return;
  const { connection, identifier } = found.repository;
  const work = { kind: 'unregister', connection, identifier, providerId } as const;
  const placed = { dueAtMs: nowMs, name: newResourceId('whr') };
  queueRepositoryWork(tx, hook.organizationId, work, placed);
};

/** Deletes the records of a repository; queued work removes its webhook at the provider. */
const removeHook = async (tx: Transaction, hook: RepositoryHook, nowMs: number): Promise<void> => {
  await queueRemoval(tx, hook, hook.providerId, nowMs);
  await queueRemoval(tx, hook, hook.formerProviderId, nowMs);
  await deleteOwned(tx, { kind: 'repository-hook', id: hook.id });
  await deleteRepositoryHook(tx, hook);
};

/** Takes back the fetch for settings that a workspace has no longer. */
const withdrawConnectionAt = async (
  tx: Transaction,
  hook: RepositoryHook,
  workspaceId: string,
): Promise<void> => {
  const { organizationId } = hook;
  const poolId = (await loadRepository(tx, hook))?.client.agentPoolId ?? null;
  await withdrawConnection(tx, { organizationId, poolId }, workspaceId);
};

const leaveRepository = async (
  tx: Transaction,
  workspaceId: string,
  repository: VcsRepository | null,
  nowMs: number,
): Promise<void> => {
  const hook = await findRepositoryHook(tx, repository);
  if (hook === undefined) return;
  repositoryWorkspaces.delete(tx, hook.id, workspaceId);
  await withdrawConnectionAt(tx, hook, workspaceId);
  const [other] = await repositoryWorkspaces.keys(tx, [hook.id], { limit: 1 });
  if (other === undefined) await removeHook(tx, hook, nowMs);
};

const joinRepository = async (
  tx: Transaction,
  workspace: Workspace,
  repository: VcsRepository,
  publicUrl: string | null,
  nowMs: number,
): Promise<void> => {
  const { oauthTokenId, identifier } = repository;
  const found = await findRepositoryHook(tx, repository);
  const hook = found ?? newHook(workspace, oauthTokenId, identifier, publicUrl);
  if (found === undefined) {
    await writeRepositoryHook(tx, hook);
    queueRegistration(tx, hook, nowMs);
  }
  repositoryWorkspaces.write(tx, [hook.id, workspace.id], {});
  await withdrawConnectionAt(tx, hook, workspace.id);
  const event = { kind: 'connection', workspaceId: workspace.id } as const;
  queueRepositoryWork(
    tx,
    hook.organizationId,
    { kind: 'fetch', hookId: hook.id, event, deliveryKey: null },
    { dueAtMs: nowMs, name: workspace.id },
  );
};

const isSameRepository = (a: VcsRepository | null, b: VcsRepository | null): boolean =>
  a?.oauthTokenId === b?.oauthTokenId && a?.identifier === b?.identifier;

/** Whether the same branch of the same repository is fetched. */
const isSameSource = (a: VcsRepository | null, b: VcsRepository | null): boolean =>
  isSameRepository(a, b) &&
  a?.branch === b?.branch &&
  a?.ingressSubmodules === b?.ingressSubmodules;

/** Follows the settings of a workspace, in the transaction that writes them. */
export const followWorkspace = async (
  { clock, publicUrl }: WebhookContext,
  tx: Transaction,
  { before, after }: WorkspaceChange,
): Promise<void> => {
  const nowMs = clock.nowMs();
  const old = before?.settings.vcsRepo ?? null;
  const next = after.settings.vcsRepo;
  if (isSameSource(old, next)) return;
  if (!isSameRepository(old, next)) await leaveRepository(tx, after.id, old, nowMs);
  if (next !== null) await joinRepository(tx, after, next, publicUrl ?? null, nowMs);
};

export const leaveWithWorkspace = (
  tx: Transaction,
  { id, settings }: Workspace,
  nowMs: number,
): Promise<void> => leaveRepository(tx, id, settings.vcsRepo, nowMs);

export const removeHooksOf = async (
  tx: Transaction,
  { tokenId }: OAuthClient,
  nowMs: number,
): Promise<void> => {
  for (const hook of await listRepositoryHooks(tx, tokenId ?? ''))
    await removeHook(tx, hook, nowMs);
};

/** Another token may have rights that the previous one lacked. */
export const retryRegistrations = async (
  tx: Transaction,
  { tokenId }: OAuthClient,
  nowMs: number,
): Promise<void> => {
  for (const hook of await listRepositoryHooks(tx, tokenId ?? '')) {
    if (hook.providerId === null) queueRegistration(tx, hook, nowMs);
  }
};

/** The registration of a webhook; undefined if it is registered, or no longer needed. */
export const prepareRegistration = async (
  { store, clock }: VcsContext,
  hookId: string,
): Promise<ProviderErrand | undefined> => {
  const hook = await findRepositoryHookById(store, hookId);
  const found = hook && (await loadRepository(store, hook));
  if (hook?.providerId !== null || found === undefined) return undefined;
  const url = webhookUrl(hook);
  if (url === null) return undefined;
  const { provider, repository } = found;
  return {
    request: provider.createHook(repository, { url, secret: hook.secret }),
    complete: async (tx, answer) => {
      const providerId = provider.hookIdOf(answer);
      const current = await findRepositoryHookById(tx, hookId);
      if (current === undefined || providerId === undefined) return;
      await queueRemoval(tx, current, current.formerProviderId, clock.nowMs());
      const registered = { ...current, providerId, formerProviderId: null, hookProblem: null };
      await writeRepositoryHook(tx, registered);
    },
  };
};

/** The removal of a webhook that is no longer needed. */
export const prepareRemoval = ({
  connection,
  identifier,
  providerId,
}: Extract<RepositoryWork, { kind: 'unregister' }>): ProviderErrand => ({
  request: PROVIDERS[connection.serviceProvider].deleteHook({ connection, identifier }, providerId),
  // It may have been removed there, with its repository or by hand.
  alsoFine: [404, 410],
  complete: () => Promise.resolve(),
});
