import type { Route } from '@keelson/edge';
import {
  endpoint,
  invalidAttribute,
  itemsOn,
  jsonApiRoutes,
  nullable,
  one,
  pageOf,
  parsePage,
  resourceBody,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { unlessDamaged } from '@keelson/storage';
import { type Static, Type } from 'typebox';
import type { OAuthToken } from '../model/domain/oauth-client.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { toOAuthTokenResource } from './oauth-document.ts';
import {
  assignOAuthTokenKey,
  deleteOAuthToken,
  listOAuthClients,
  requireOAuthClient,
  requireOAuthToken,
  setOAuthTokenKey,
} from './oauth-operations.ts';

const UPDATE = resourceBody(
  'oauth-tokens',
  Type.Object({ 'ssh-key': Type.Optional(nullable(Type.String({ maxLength: 16_384 }))) }),
  Type.Object({
    'ssh-key': Type.Optional(
      Type.Object({
        data: nullable(
          Type.Object({ type: Type.Literal('ssh-keys'), id: Type.String({ maxLength: 64 }) }),
        ),
      }),
    ),
  }),
);

const ONE = '/oauth-tokens/:oauth_token_id';

export const oauthTokenRoutes = (context: WorkspacesContext): Route[] => {
  const { store } = context;
  /** A request may give a key of its own, name one of the organization, or neither. */
  const changeToken = (
    principal: Principal,
    id: string,
    { data: { attributes, relationships } }: Static<typeof UPDATE>,
  ): Promise<OAuthToken> => {
    const { 'ssh-key': text } = attributes;
    const assigned = relationships?.['ssh-key'];
    if (text && assigned?.data) {
      const detail = 'a token has one SSH key: give its text, or name one of the organization';
      throw invalidAttribute('/data/attributes/ssh-key', detail);
    }
    if (text !== undefined && !assigned?.data)
      return setOAuthTokenKey(context, principal, id, text);
    return assigned === undefined
      ? requireOAuthToken(store, principal, id)
      : assignOAuthTokenKey(context, principal, id, assigned.data?.id ?? null);
  };
  return jsonApiRoutes('OAuth tokens', [
    endpoint({
      method: 'GET',
      path: '/oauth-clients/:oauth_client_id/oauth-tokens',
      summary: 'List the token of an OAuth client',
      answers: pageOf('oauth-tokens'),
      handle: async ({ head, principal, params, query }) => {
        const id = params.oauth_client_id;
        const { client } = await requireOAuthClient(store, principal, id);
        const { tokenId } = client;
        const tokens = tokenId === null ? [] : [await requireOAuthToken(store, principal, tokenId)];
        const page = parsePage(query);
        const data = itemsOn(page, tokens).map(toOAuthTokenResource);
        return { document: toPaginatedDocument(head, { data, page, totalCount: tokens.length }) };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/organizations/:organization_name/oauth-tokens',
      summary: 'List the OAuth tokens of an organization',
      answers: pageOf('oauth-tokens'),
      handle: async ({ head, principal, params, query }) => {
        const organization = params.organization_name;
        const clients = await listOAuthClients(context, principal, organization);
        const all = clients.flatMap(({ client }) => client.tokenId ?? []);
        const page = parsePage(query);
        const tokens = await Promise.all(
          itemsOn(page, all).map((id) => unlessDamaged(requireOAuthToken(store, principal, id))),
        );
        const data = tokens.filter((token) => token !== undefined).map(toOAuthTokenResource);
        return { document: toPaginatedDocument(head, { data, page, totalCount: all.length }) };
      },
    }),
    endpoint({
      method: 'GET',
      path: ONE,
      summary: 'Show an OAuth token, without its text',
      answers: one('oauth-tokens'),
      handle: async ({ principal, params }) => {
        const token = await requireOAuthToken(store, principal, params.oauth_token_id);
        return { document: { data: toOAuthTokenResource(token) } };
      },
    }),
    endpoint({
      method: 'PATCH',
      path: ONE,
      summary: 'Give an OAuth token an SSH key, or none',
      answers: one('oauth-tokens'),
      body: { schema: UPDATE },
      handle: async ({ principal, params, body }) => {
        const token = await changeToken(principal, params.oauth_token_id, body);
        return { document: { data: toOAuthTokenResource(token) } };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: ONE,
      summary: 'Delete an OAuth token; its client remains',
      success: 204,
      handle: async ({ principal, params }) => {
        await deleteOAuthToken(context, principal, params.oauth_token_id);
        return undefined;
      },
    }),
  ]);
};
