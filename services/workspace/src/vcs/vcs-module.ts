/** Repositories of workspaces: webhooks, commits that become configurations and runs, statuses of commits. */
import type { Route } from '@keelson/edge';
import type { PeriodicWork } from '@keelson/locks';
import { deliveryRoutes, webhookRoutes } from './hooks/delivery-routes.ts';
import { createRepositoryWorker } from './repository-work/repository-worker.ts';
import type { VcsContext } from './seams/vcs-context.ts';

export const vcsRoutes = (context: VcsContext): readonly Route[] => deliveryRoutes(context);

/** Routes whose credential is the signature of a provider. */
export const vcsSignedRoutes = (context: VcsContext): readonly Route[] => webhookRoutes(context);

/** Work by its name; done by one replica at a time, and paused while sealed. */
export const vcsUpkeep = (
  context: VcsContext,
  { isSealed }: { readonly isSealed: () => boolean },
): Readonly<Record<string, PeriodicWork>> => {
  const round = createRepositoryWorker(context);
  return {
    repositories: { everyMs: 1000, round: async (options) => !isSealed() && round(options) },
  };
};
