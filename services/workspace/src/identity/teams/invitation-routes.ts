/** Routes for the link of an invitation, whose code is the bearer token. */
import type { Route } from '@keelson/edge';
import { endpoint, jsonApiRoutes, one, resourceBody } from '@keelson/jsonapi';
import { Type } from 'typebox';
import { PASSWORD } from '../passwords/password-routes.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { toSessionResource } from '../sessions/session-document.ts';
import { toTokenResource } from '../tokens/token-document.ts';
import {
  acceptInvitation,
  acceptWithPassword,
  requireInvitation,
} from './invitation-acceptance-operations.ts';
import { toInvitationResource } from './invitation-document.ts';

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
  ]);
