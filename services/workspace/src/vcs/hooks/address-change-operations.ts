/** Webhooks follow the public address of the service: after a change they are registered again. */
import type { RoundOptions } from '@keelson/locks';
import { unlessDamaged } from '@keelson/storage';
import {
  findRepositoryHookById,
  listRepositoryHookIds,
  writeRepositoryHook,
} from '../../workspaces/model/repository-records.ts';
import type { VcsContext } from '../seams/vcs-context.ts';
import { queueRegistration } from './hook-operations.ts';

const followAddress = (
  { store, clock }: VcsContext,
  hookId: string,
  publicUrl: string,
  options: RoundOptions,
): Promise<void> =>
  store.transact(async (tx) => {
    const hook = await findRepositoryHookById(tx, hookId);
    if (hook === undefined || hook.publicUrl === publicUrl) return;
    const moved = {
      ...hook,
      publicUrl,
      hookProblem: null,
      providerId: null,
      // It is removed there once the new one is registered, so that no push is missed in between.
      formerProviderId: hook.providerId ?? hook.formerProviderId,
    };
    await writeRepositoryHook(tx, moved);
    queueRegistration(tx, moved, clock.nowMs());
  }, options);

/**
 * Queues the registration of all webhooks whose providers know another address than the configured one. Without
 * a configured address, each webhook keeps the one it has.
 */
export const followPublicAddress = async (
  context: VcsContext,
  options: RoundOptions,
): Promise<void> => {
  const { store, publicUrl } = context;
  if (publicUrl === undefined) return;
  for (const id of await listRepositoryHookIds(store))
    await unlessDamaged(followAddress(context, id, publicUrl, options));
};
