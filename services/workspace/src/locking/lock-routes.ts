import type { Route } from '@keelson/edge';
import { endpoint, jsonApiRoutes, nullable } from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { Run } from '../runs/domain/run.ts';
import type { ServiceContext } from '../service-context.ts';
import { answerWorkspace } from '../workspaces/workspace-routes.ts';
import { forceUnlockWorkspace, lockWorkspace, unlockWorkspace } from './lock-operations.ts';

const reason = Type.Optional(nullable(Type.String({ maxLength: 4096 })));

// People send {"reason": …}; provisioning clients send a resource with an empty type.
const LOCK_BODY = Type.Object({
  reason,
  data: Type.Optional(nullable(Type.Object({ attributes: Type.Object({ reason }) }))),
});

const HOLDER_TYPES = { user: 'users', team: 'teams', organization: 'organizations' } as const;

/** Tells that the lock was a run's, how far that is, and who took it. */
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

const ACTIONS = '/workspaces/:workspace_id/actions';

export const lockRoutes = (context: ServiceContext): Route[] =>
  jsonApiRoutes('workspaces', [
    endpoint({
      method: 'POST',
      path: `${ACTIONS}/lock`,
      summary: 'Lock a workspace',
      body: { schema: LOCK_BODY, optional: true },
      handle: async (exchange) => {
        const { params, principal, body } = exchange;
        const given = body?.reason ?? body?.data?.attributes.reason ?? '';
        const id = params['workspace_id'] ?? '';
        const access = await lockWorkspace(context, principal, id, given);
        return answerWorkspace(context, exchange, access);
      },
    }),
    endpoint({
      method: 'POST',
      path: `${ACTIONS}/unlock`,
      summary: 'Unlock a workspace that the caller locked',
      handle: async (exchange) => {
        const { params, principal } = exchange;
        const access = await unlockWorkspace(context, principal, params['workspace_id'] ?? '');
        return answerWorkspace(context, exchange, access);
      },
    }),
    endpoint({
      method: 'POST',
      path: `${ACTIONS}/force-unlock`,
      summary: 'Unlock a workspace whoever locked it',
      handle: async (exchange) => {
        const { params, principal } = exchange;
        const access = await forceUnlockWorkspace(context, principal, params['workspace_id'] ?? '');
        const { document } = await answerWorkspace(context, exchange, access);
        return { document: { ...document, ...toForcedMeta(access.run) } };
      },
    }),
  ]);
