import type { Route } from '@keelson/edge';
import { endpoint, jsonApiRoutes, one, resourceBody } from '@keelson/jsonapi';
import { Type } from 'typebox';
import { notFound } from '../../base/not-found.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import { userRecords } from '../model/user-records.ts';
import { toUserResource } from './user-document.ts';
import { createUser } from './user-operations.ts';

const CREATE = resourceBody(
  'users',
  Type.Object({
    username: Type.String({ maxLength: 255 }),
    email: Type.String({ maxLength: 255 }),
    'is-site-admin': Type.Optional(Type.Boolean()),
  }),
);

export const userRoutes = (context: ServiceContext): Route[] =>
  jsonApiRoutes('users', [
    endpoint({
      method: 'GET',
      path: '/users/:user_id',
      summary: 'Show a user',
      answers: one('users'),
      handle: async ({ principal, params }) => {
        const user = await userRecords.find(context.store, params['user_id'] ?? '');
        if (user === undefined) throw notFound('user');
        return { document: { data: toUserResource(user, principal.id === user.id) } };
      },
    }),
    endpoint({
      method: 'POST',
      path: '/admin/users',
      summary: 'Create a user (site administrators)',
      answers: one('users'),
      body: { schema: CREATE },
      success: 201,
      handle: async ({ principal, body }) => {
        const { username, email, 'is-site-admin': isSiteAdmin = false } = body.data.attributes;
        const user = await createUser(context, principal, { username, email, isSiteAdmin });
        return { document: { data: toUserResource(user, false) } };
      },
    }),
  ]);
