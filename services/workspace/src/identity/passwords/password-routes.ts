/** Routes of passwords: what is offered, a change, and a new one by the link of a mail. */
import type { Route } from '@keelson/edge';
import {
  endpoint,
  jsonApiRoutes,
  one,
  openEndpoint,
  refuseInvalid,
  resourceBody,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import { obstacleToMail } from '../mails/link-mails.ts';
import { findSignInSettings, findSsoSettings } from '../model/credential-records.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { loadOwnPermissions } from '../users/own-permissions.ts';
import { toUserResource } from '../users/user-document.ts';
import { LONGEST_PASSWORD } from './domain/password.ts';
import { toPasswordResetResource, toSignInMethodsResource } from './password-document.ts';
import { changePassword } from './password-operations.ts';
import { requestReset, requireReset, resetPassword } from './password-reset-operations.ts';

const TAG = 'sign-in';

/** A password in a request. */
export const PASSWORD = Type.String({ maxLength: LONGEST_PASSWORD });

// The names are those of the vendor's document.
const CHANGE = resourceBody(
  'users',
  Type.Object({
    current_password: PASSWORD,
    password: PASSWORD,
    password_confirmation: PASSWORD,
  }),
);

const REQUEST = resourceBody(
  'password-resets',
  Type.Object({ email: Type.String({ maxLength: 255 }) }),
);

const RESET = resourceBody(
  'password-resets',
  Type.Object({
    password: PASSWORD,
    'removes-passkeys': Type.Optional(
      Type.Boolean({ description: 'Whether the passkeys of the account are lost, too.' }),
    ),
  }),
);

export const passwordRoutes = (context: IdentityContext): Route[] =>
  jsonApiRoutes(TAG, [
    endpoint({
      method: 'PATCH',
      path: '/account/password',
      summary: "Change the caller's own password, which ends its other sessions",
      answers: one('users'),
      body: { schema: CHANGE },
      handle: async ({ principal, body }) => {
        const given = body.data.attributes;
        if (given.password !== given.password_confirmation)
          refuseInvalid([attributeViolation('password_confirmation', 'differs from the password')]);
        const change = { current: given.current_password, next: given.password };
        const user = await changePassword(context, principal, change);
        const own = await loadOwnPermissions(context.store, principal);
        return { document: { data: toUserResource(user, own) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/password-reset',
      summary:
        'Show the account whose link for a new password has the code in the Authorization header',
      answers: one('password-resets'),
      handle: async ({ principal }) => ({
        document: { data: toPasswordResetResource(await requireReset(context.store, principal)) },
      }),
    }),
    endpoint({
      method: 'POST',
      path: '/password-reset/actions/set-password',
      summary: 'Set the new password, which ends the link and all sessions of the account',
      body: { schema: RESET },
      success: 204,
      handle: async ({ principal, body }) => {
        const { password, 'removes-passkeys': removesPasskeys = false } = body.data.attributes;
        await resetPassword(context, principal, password, { removesPasskeys });
        return undefined;
      },
    }),
  ]);

/** For everybody, whether or not they have an account. */
export const openPasswordRoutes = (context: IdentityContext): Route[] =>
  jsonApiRoutes(TAG, [
    openEndpoint({
      method: 'GET',
      path: '/sign-in-methods',
      summary: 'Show in which ways people sign in',
      answers: one('sign-in-methods'),
      handle: async () => {
        const settings = await findSignInSettings(context.store);
        const canMail = obstacleToMail(context) === undefined;
        const sso = await findSsoSettings(context.store);
        return { document: { data: toSignInMethodsResource(settings, sso, canMail) } };
      },
    }),
    openEndpoint({
      method: 'POST',
      path: '/password-resets',
      summary: 'Have a link for a new password sent to the address, if a user has it',
      body: { schema: REQUEST },
      success: 202,
      handle: async ({ body }) => {
        await requestReset(context, body.data.attributes.email);
        return undefined;
      },
    }),
  ]);
