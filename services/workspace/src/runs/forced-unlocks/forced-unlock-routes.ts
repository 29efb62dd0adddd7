import type { Route } from '@keelson/edge';
import { endpoint, jsonApiRoutes } from '@keelson/jsonapi';
import { answerWorkspace } from '../../workspaces/workspaces/workspace-routes.ts';
import type { Run } from '../model/domain/run.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import { forceUnlockWorkspace } from './forced-unlock-operations.ts';

const HOLDER_TYPES = { user: 'users', team: 'teams', organization: 'organizations' } as const;

/** Describes the run that held the lock, its status, and who forced the unlock. */
const toForcedMeta = (run: Run | undefined) => {
  const by = run?.forcedUnlocks?.at(-1)?.by;
  if (run === undefined || by === undefined) return {};
  return {
    meta: {
      'forced-unlock': {
        run: { id: run.id, type: 'runs' },
        status: run.status,
        by: { id: by.id, type: HOLDER_TYPES[by.kind] },
      },
    },
  };
};

export const forcedUnlockRoutes = (context: RunsContext): Route[] =>
  jsonApiRoutes('workspaces', [
    endpoint({
      method: 'POST',
      path: '/workspaces/:workspace_id/actions/force-unlock',
      summary: 'Unlock a workspace regardless of the lock holder',
      handle: async (exchange) => {
        const { params, principal } = exchange;
        const access = await forceUnlockWorkspace(context, principal, params['workspace_id'] ?? '');
        const { document } = await answerWorkspace(context, exchange, access);
        return { document: { ...document, ...toForcedMeta(access.run) } };
      },
    }),
  ]);
