import type { Route } from '@keelson/edge';
import { endpoint, jsonApiRoutes, one } from '@keelson/jsonapi';
import { notFound } from '../../base/not-found.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import { userRecords } from '../model/user-records.ts';
import { loadOwnPermissions } from './own-permissions.ts';
import { toUserResource } from './user-document.ts';

export const userRoutes = (context: ServiceContext): Route[] =>
  jsonApiRoutes('users', [
    endpoint({
      method: 'GET',
      path: '/users/:user_id',
      summary: 'Show a user',
      answers: one('users'),
      handle: async ({ principal, params }) => {
        const user = await userRecords.find(context.store, params.user_id);
        if (user === undefined) throw notFound('user');
        const isOwn = principal.id === user.id;
        const own = isOwn ? await loadOwnPermissions(context.store, principal) : undefined;
        return { document: { data: toUserResource(user, own) } };
      },
    }),
  ]);
