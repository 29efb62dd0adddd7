/** Routes by which site administrators change the keys that sign the tokens of runs. */
import type { Route } from '@keelson/edge';
import { endpoint, jsonApiRoutes } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { RunsContext } from '../seams/runs-context.ts';
import { replaceWorkloadKey, trimWorkloadKeys } from './workload-key-operations.ts';

const action = (name: string, summary: string, act: (principal: Principal) => Promise<void>) =>
  endpoint({
    method: 'POST',
    path: `/admin/oidc-settings/actions/${name}`,
    summary: `${summary} (site administrators)`,
    success: 204,
    handle: async ({ principal }) => {
      await act(principal);
      return undefined;
    },
  });

export const workloadKeyRoutes = (context: RunsContext): Route[] =>
  jsonApiRoutes('runs', [
    action('rotate-key', 'Make a new key sign the tokens of runs from now on', (principal) =>
      replaceWorkloadKey(context, principal),
    ),
    action('trim-key', 'Remove the former keys of the tokens of runs', (principal) =>
      trimWorkloadKeys(context, principal),
    ),
  ]);
