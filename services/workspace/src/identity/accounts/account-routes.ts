/** Routes of the caller's own account, and of the link that confirms its mail address. */
import type { Route } from '@keelson/edge';
import { endpoint, jsonApiRoutes, one, resourceBody, withWarnings } from '@keelson/jsonapi';
import { assertionSchema } from '@keelson/passkeys';
import { Type } from 'typebox';
import { PASSWORD } from '../passwords/password-routes.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { loadOwnPermissions } from '../users/own-permissions.ts';
import { toAccountResource, toUserResource } from '../users/user-document.ts';
import { loadAccount } from '../users/user-operations.ts';
import { updateAccount } from './account-operations.ts';
import { toEmailConfirmationResource } from './email-confirmation-document.ts';
import { confirmEmail, requireEmailConfirmation } from './email-confirmation-operations.ts';

const UPDATE = resourceBody(
  'users',
  Type.Object({
    username: Type.Optional(Type.String({ maxLength: 255 })),
    email: Type.Optional(
      Type.String({
        maxLength: 255,
        description:
          'Counts once the link of the mail that it gets is followed. Where people sign in, another one takes a session and a proof.',
      }),
    ),
    'current-password': Type.Optional(PASSWORD),
    confirmation: Type.Optional(assertionSchema),
  }),
);

export const accountRoutes = (context: IdentityContext): Route[] =>
  jsonApiRoutes('users', [
    endpoint({
      method: 'GET',
      path: '/account/details',
      summary: 'Show the account behind the token',
      answers: one('users'),
      handle: async ({ principal }) => ({
        document: { data: toAccountResource(await loadAccount(context.store, principal)) },
      }),
    }),
    endpoint({
      method: 'PATCH',
      path: '/account/update',
      summary: "Update the caller's own account",
      answers: one('users'),
      body: { schema: UPDATE },
      handle: async ({ principal, body }) => {
        const { 'current-password': password, confirmation, ...given } = body.data.attributes;
        const change = { ...given, password, confirmation };
        const { user, warnings } = await updateAccount(context, principal, change);
        const own = await loadOwnPermissions(context.store, principal);
        return { document: { data: toUserResource(user, own), ...withWarnings(warnings) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/email-confirmation',
      summary: 'Show the address whose confirmation link has the code in the Authorization header',
      answers: one('email-confirmations'),
      handle: async ({ principal }) => {
        const view = await requireEmailConfirmation(context.store, principal);
        return { document: { data: toEmailConfirmationResource(view) } };
      },
    }),
    endpoint({
      method: 'POST',
      path: '/email-confirmation/actions/confirm',
      summary: 'Confirm the mail address, which becomes that of the account',
      success: 204,
      handle: async ({ principal }) => {
        await confirmEmail(context, principal);
        return undefined;
      },
    }),
  ]);
