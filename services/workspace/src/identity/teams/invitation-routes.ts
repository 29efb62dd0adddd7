/** Routes for the link of an invitation, whose code is the bearer token. */
import type { Route } from '@keelson/edge';
import { endpoint, jsonApiRoutes, one, resourceBody } from '@keelson/jsonapi';
import { Type } from 'typebox';
import { toChallengeResource } from '../passkeys/passkey-document.ts';
import { NEW_PASSKEY } from '../passkeys/passkey-routes.ts';
import { PASSWORD } from '../passwords/password-routes.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { toSessionResource } from '../sessions/session-document.ts';
import { toTokenResource } from '../tokens/token-document.ts';
import {
  acceptInvitation,
  acceptWithPasskey,
  acceptWithPassword,
  beginPasskeyOfInvited,
  requireInvitation,
} from './invitation-acceptance-operations.ts';
import { toInvitationResource } from './invitation-document.ts';

const ADD_PASSKEY = resourceBody('invitations', Type.Object(NEW_PASSKEY));
const SET_PASSWORD = resourceBody('invitations', Type.Object({ password: PASSWORD }));

export const invitationRoutes = (context: IdentityContext): Route[] =>
  jsonApiRoutes('organization memberships', [
    endpoint({
      method: 'GET',
      path: '/invitation',
      summary: 'Show the invitation whose link has the code in the Authorization header',
      answers: one('invitations'),
      handle: async ({ principal }) => ({
        document: { data: toInvitationResource(await requireInvitation(context.store, principal)) },
      }),
    }),
    endpoint({
      method: 'POST',
      path: '/invitation/actions/accept',
      summary: 'Accept the invitation, which gives a first token of the account',
      answers: one('authentication-tokens'),
      success: 201,
      handle: async ({ principal }) => {
        const { token, text } = await acceptInvitation(context, principal);
        return { document: { data: toTokenResource(token, text) } };
      },
    }),
    endpoint({
      method: 'POST',
      path: '/invitation/actions/set-password',
      summary: 'Accept the invitation with a password for the account, which signs in',
      answers: one('sessions'),
      body: { schema: SET_PASSWORD },
      success: 201,
      handle: async ({ head, principal, body }) => {
        const { token, text } = await acceptWithPassword(
          context,
          principal,
          body.data.attributes.password,
          head.headers['user-agent'] ?? '',
        );
        return { document: { data: toSessionResource(token, { text, isCurrent: true }) } };
      },
    }),
    endpoint({
      method: 'POST',
      path: '/invitation/actions/begin-passkey',
      summary:
        'Begin to accept the invitation with a passkey, which gives the question for the browser',
      answers: one('passkey-challenges'),
      handle: async ({ principal }) => ({
        document: {
          data: toChallengeResource({
            registration: await beginPasskeyOfInvited(context, principal),
          }),
        },
      }),
    }),
    endpoint({
      method: 'POST',
      path: '/invitation/actions/add-passkey',
      summary: 'Accept the invitation with a passkey for the account, which signs in',
      answers: one('sessions'),
      body: { schema: ADD_PASSKEY },
      success: 201,
      handle: async ({ head, principal, body }) => {
        const userAgent = head.headers['user-agent'] ?? '';
        const given = body.data.attributes;
        const { token, text } = await acceptWithPasskey(context, principal, given, userAgent);
        return { document: { data: toSessionResource(token, { text, isCurrent: true }) } };
      },
    }),
  ]);
