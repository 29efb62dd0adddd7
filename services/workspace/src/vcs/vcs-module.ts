/** Repositories of workspaces: webhooks, commits that become configurations and runs, statuses of commits. */
import type { Route } from '@keelson/edge';
import type { ResourceSchema } from '@keelson/jsonapi';
import type { PeriodicWork } from '@keelson/locks';
import { AGENT_REPOSITORY_WORK } from './agent-work/agent-work-document.ts';
import { agentWorkRoutes } from './agent-work/agent-work-routes.ts';
import { expireAgentWork } from './agent-work/agent-work-upkeep.ts';
import { authorizationRoutes } from './authorization/authorization-routes.ts';
import { followPublicAddress } from './hooks/address-change-operations.ts';
import { REPOSITORY_DELIVERY } from './hooks/delivery-document.ts';
import { deliveryRoutes, webhookRoutes } from './hooks/delivery-routes.ts';
import { createRepositoryWorker } from './repository-work/repository-worker.ts';
import type { VcsContext } from './seams/vcs-context.ts';

/** Routes for agents, authorized by the token of their pool, and the signed addresses for their uploads. */
export const vcsAgentRoutes = (context: VcsContext): readonly Route[] => agentWorkRoutes(context);

export const vcsRoutes = (context: VcsContext): readonly Route[] => [
  ...authorizationRoutes(context),
  ...deliveryRoutes(context),
];

/** Routes whose credential is the signature of a provider. */
export const vcsSignedRoutes = (context: VcsContext): readonly Route[] => webhookRoutes(context);

/** Background work by name. One replica at a time does each kind; it pauses while the service is sealed. */
export const vcsUpkeep = (
  context: VcsContext,
  { isSealed }: { readonly isSealed: () => boolean },
): Readonly<Record<string, PeriodicWork>> => {
  const round = createRepositoryWorker(context);
  // The address is a setting: it is enough to look once each time that this cluster begins to write.
  let hasFollowed = false;
  return {
    repositories: {
      everyMs: 1000,
      round: async (options) => {
        if (isSealed()) {
          hasFollowed = false;
          return false;
        }
        if (!hasFollowed) {
          await followPublicAddress(context, options);
          hasFollowed = true;
        }
        return round(options);
      },
    },
    'agent work': {
      everyMs: 10_000,
      round: async (options) => {
        if (!isSealed()) await expireAgentWork(context, options);
        return false;
      },
    },
  };
};

/** The resources that these routes answer with. */
export const VCS_RESOURCES: readonly ResourceSchema[] = [
  REPOSITORY_DELIVERY,
  AGENT_REPOSITORY_WORK,
];
