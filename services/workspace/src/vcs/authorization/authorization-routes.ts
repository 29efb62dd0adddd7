import type { Route } from '@keelson/edge';
import { endpoint, jsonApiRoutes, one, resourceBody, toTimestamp } from '@keelson/jsonapi';
import { Type } from 'typebox';
import { toOAuthTokenResource } from '../../workspaces/oauth/oauth-document.ts';
import type { VcsContext } from '../seams/vcs-context.ts';
import { beginAuthorization, completeAuthorization } from './authorization-operations.ts';

const given = Type.String({ minLength: 1, maxLength: 1024 });
const COMPLETE = resourceBody(
  'oauth-authorizations',
  Type.Object({ 'oauth-token': given, 'oauth-verifier': given }),
);
const ACTIONS = '/oauth-clients/:oauth_client_id/actions';

export const authorizationRoutes = (context: VcsContext): Route[] =>
  jsonApiRoutes('OAuth clients', [
    endpoint({
      method: 'POST',
      path: `${ACTIONS}/begin-authorization`,
      summary: 'Begin to authorize an OAuth client with a key pair at its provider',
      answers: one('oauth-authorizations'),
      handle: async ({ principal, params }) => {
        const id = params.oauth_client_id;
        const begun = await beginAuthorization(context, principal, id);
        const attributes = {
          'authorize-url': begun.authorizeUrl,
          'expires-at': toTimestamp(begun.expiresAtMs),
        };
        return { document: { data: { id, type: 'oauth-authorizations', attributes } } };
      },
    }),
    endpoint({
      method: 'POST',
      path: `${ACTIONS}/complete-authorization`,
      summary: 'Complete the authorization with the code from the provider',
      answers: one('oauth-tokens'),
      body: { schema: COMPLETE },
      handle: async ({ principal, params, body }) => {
        const { 'oauth-token': requestToken, 'oauth-verifier': verifier } = body.data.attributes;
        const id = params.oauth_client_id;
        const sentBack = { requestToken, verifier };
        const token = await completeAuthorization(context, principal, id, sentBack);
        return { document: { data: toOAuthTokenResource(token) } };
      },
    }),
  ]);
