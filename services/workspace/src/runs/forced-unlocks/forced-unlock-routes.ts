import type { Route } from '@keelson/edge';
import { choice, endpoint, jsonApiRoutes, one } from '@keelson/jsonapi';
import { Type } from 'typebox';
import { RUN_STATUSES } from '../../base/run-status.ts';
import { answerWorkspace } from '../../workspaces/lifecycle/workspace-routes.ts';
import { toWorkspaceIncludes } from '../../workspaces/seams/workspace-contributions.ts';
import type { Run } from '../model/domain/run.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import { forceUnlockWorkspace } from './forced-unlock-operations.ts';

const HOLDER_TYPES = { user: 'users', team: 'teams', organization: 'organizations' } as const;

const identifierOf = (types: readonly string[]) =>
  Type.Object({ id: Type.String(), type: choice(types) });

const FORCED = {
  'forced-unlock': Type.Optional(
    Type.Object(
      {
        run: identifierOf(['runs']),
        status: choice(RUN_STATUSES),
        by: identifierOf(Object.values(HOLDER_TYPES)),
      },
      { description: 'The run that held the lock, and who took it away.' },
    ),
  ),
};

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
      answers: one('workspaces', {
        includes: toWorkspaceIncludes(context.workspaceContributions),
        meta: FORCED,
      }),
      handle: async (exchange) => {
        const { params, principal } = exchange;
        const access = await forceUnlockWorkspace(context, principal, params.workspace_id);
        const { document } = await answerWorkspace(context, exchange, access);
        return { document: { ...document, ...toForcedMeta(access.run) } };
      },
    }),
  ]);
