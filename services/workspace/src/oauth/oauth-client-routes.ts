import type { Route } from '@keelson/edge';
import {
  endpoint,
  itemsOn,
  jsonApiRoutes,
  nullable,
  parsePage,
  resourceBody,
  resourceListBody,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { ServiceContext } from '../service-context.ts';
import { toCamelKeys } from '../validation/attribute-names.ts';
import { SERVICE_PROVIDERS, type ServiceProvider } from './domain/oauth-client.ts';
import { toOAuthClientResource } from './oauth-document.ts';
import {
  changeClientProjects,
  createOAuthClient,
  deleteOAuthClient,
  listOAuthClients,
  requireOAuthClient,
  updateOAuthClient,
} from './oauth-operations.ts';

const text = (maxLength: number) => Type.Optional(nullable(Type.String({ maxLength })));
const url = Type.String({ maxLength: 2048 });
const tokenText = Type.String({ minLength: 1, maxLength: 16_384 });
const changeable = {
  name: text(255),
  key: text(1024),
  secret: text(16_384),
  'rsa-public-key': text(16_384),
  'organization-scoped': Type.Optional(Type.Boolean()),
};
const PROJECT = Type.Object({ type: Type.Literal('projects'), id: Type.String({ maxLength: 64 }) });
const PROJECTS = resourceListBody(PROJECT);
const providers = Object.keys(SERVICE_PROVIDERS) as ServiceProvider[];

const CREATE = resourceBody(
  'oauth-clients',
  Type.Object({
    ...changeable,
    'service-provider': Type.Union(providers.map((name) => Type.Literal(name))),
    'http-url': url,
    'api-url': url,
    'private-key': text(16_384),
    'oauth-token-string': tokenText,
  }),
  Type.Object({ projects: Type.Optional(PROJECTS) }),
);
const UPDATE = resourceBody(
  'oauth-clients',
  Type.Object({ ...changeable, 'oauth-token-string': Type.Optional(tokenText) }),
);

const COLLECTION = '/organizations/:organization_name/oauth-clients';
const ONE = '/oauth-clients/:oauth_client_id';

export const oauthClientRoutes = (context: ServiceContext): Route[] => {
  const changeProjects = (method: 'POST' | 'DELETE', change: 'add' | 'remove', summary: string) =>
    endpoint({
      method,
      path: `${ONE}/relationships/projects`,
      summary,
      body: { schema: PROJECTS },
      success: 204,
      handle: async ({ principal, params, body }) => {
        const ids = body.data.map(({ id }) => id);
        const clientId = params['oauth_client_id'] ?? '';
        await changeClientProjects(context, principal, clientId, ids, change);
        return undefined;
      },
    });
  return jsonApiRoutes('OAuth clients', [
    endpoint({
      method: 'POST',
      path: COLLECTION,
      summary: 'Create an OAuth client with its token',
      body: { schema: CREATE },
      success: 201,
      handle: async ({ principal, params, body }) => {
        const { attributes, relationships } = body.data;
        const absent = {
          name: null,
          key: null,
          secret: null,
          rsaPublicKey: null,
          privateKey: null,
        };
        const projectIds = (relationships?.projects?.data ?? []).map(({ id }) => id);
        const access = await createOAuthClient(
          context,
          principal,
          params['organization_name'] ?? '',
          {
            ...absent,
            organizationScoped: true,
            projectIds: [...new Set(projectIds)],
            ...toCamelKeys(attributes),
          },
        );
        return { document: { data: toOAuthClientResource(access) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: COLLECTION,
      summary: 'List OAuth clients',
      handle: async ({ head, principal, params, query }) => {
        const all = await listOAuthClients(context, principal, params['organization_name'] ?? '');
        const page = parsePage(query);
        const data = itemsOn(page, all).map(toOAuthClientResource);
        return { document: toPaginatedDocument(head, { data, page, totalCount: all.length }) };
      },
    }),
    endpoint({
      method: 'GET',
      path: ONE,
      summary: 'Show an OAuth client, without its secrets',
      handle: async ({ principal, params }) => {
        const id = params['oauth_client_id'] ?? '';
        const access = await requireOAuthClient(context.store, principal, id);
        return { document: { data: toOAuthClientResource(access) } };
      },
    }),
    endpoint({
      method: 'PATCH',
      path: ONE,
      summary: 'Update an OAuth client',
      body: { schema: UPDATE },
      handle: async ({ principal, params, body }) => {
        const change = toCamelKeys(body.data.attributes);
        const id = params['oauth_client_id'] ?? '';
        const access = await updateOAuthClient(context, principal, id, change);
        return { document: { data: toOAuthClientResource(access) } };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: ONE,
      summary: 'Delete an OAuth client with its token',
      success: 204,
      handle: async ({ principal, params }) => {
        await deleteOAuthClient(context, principal, params['oauth_client_id'] ?? '');
        return undefined;
      },
    }),
    changeProjects('POST', 'add', 'Open an OAuth client to projects'),
    changeProjects('DELETE', 'remove', 'Close an OAuth client to projects'),
  ]);
};
