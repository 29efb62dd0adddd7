/** Routes for the link of an invitation, whose code is the bearer token. */
import type { Route } from '@keelson/edge';
import { endpoint, jsonApiRoutes, one } from '@keelson/jsonapi';
import type { IdentityContext } from '../seams/identity-context.ts';
import { toTokenResource } from '../tokens/token-document.ts';
import { acceptInvitation, requireInvitation } from './invitation-acceptance-operations.ts';
import { toInvitationResource } from './invitation-document.ts';

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
  ]);
