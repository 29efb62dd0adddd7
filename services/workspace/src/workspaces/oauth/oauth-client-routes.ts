import type { Route } from '@keelson/edge';
import {
  endpoint,
  type Includes,
  itemsOn,
  jsonApiRoutes,
  nullable,
  one,
  pageOf,
  parseInclude,
  parsePage,
  type Resource,
  type ResourceOf,
  resourceBody,
  resourceListBody,
  toPaginatedDocument,
  type UnsupportedFields,
  warnOfUnsupported,
  withWarnings,
} from '@keelson/jsonapi';
import { type Reads, readableOnly } from '@keelson/storage';
import { Type } from 'typebox';
import { IncludedResources } from '../../base/included-resources.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import { toCamelKeys } from '../../base/validation/attribute-names.ts';
import { findReadableProject } from '../access/access-operations.ts';
import {
  type OAuthClient,
  SERVICE_PROVIDERS,
  type ServiceProvider,
  signingOf,
} from '../model/domain/oauth-client.ts';
import { oauthTokenRecords } from '../model/oauth-records.ts';
import { isOAuthClientOff } from '../model/part-switch-records.ts';
import { loadRelatedProject } from '../projects/related-project.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import {
  type OAUTH_CLIENT,
  toOAuthClientResource,
  toOAuthTokenResource,
} from './oauth-document.ts';
import {
  changeClientProjects,
  createOAuthClient,
  deleteOAuthClient,
  listOAuthClients,
  type OAuthClientAccess,
  requireOAuthClient,
  updateOAuthClient,
} from './oauth-operations.ts';

const text = (maxLength: number) => Type.Optional(nullable(Type.String({ maxLength })));
const url = Type.String({ maxLength: 2048 });
const changeable = {
  name: text(255),
  key: text(1024),
  secret: text(16_384),
  'rsa-public-key': text(16_384),
  'oauth-token-string': text(16_384),
  'organization-scoped': Type.Optional(Type.Boolean()),
};
const PROJECT = Type.Object({ type: Type.Literal('projects'), id: Type.String({ maxLength: 64 }) });
const PROJECTS = resourceListBody(PROJECT);
/** The pool whose agents reach the provider; null if the control plane does. */
const AGENT_POOL = Type.Optional(
  Type.Object({
    data: nullable(
      Type.Object({ type: Type.Literal('agent-pools'), id: Type.String({ maxLength: 64 }) }),
    ),
  }),
);
const providers = Object.keys(SERVICE_PROVIDERS) as ServiceProvider[];

const CREATE = resourceBody(
  'oauth-clients',
  Type.Object({
    ...changeable,
    'service-provider': Type.Union(providers.map((name) => Type.Literal(name))),
    'http-url': url,
    'api-url': url,
    'private-key': text(16_384),
  }),
  Type.Object({ projects: Type.Optional(PROJECTS), 'agent-pool': AGENT_POOL }),
);
const UPDATE = resourceBody(
  'oauth-clients',
  Type.Object(changeable),
  Type.Object({ 'agent-pool': AGENT_POOL }),
);

const TOKEN_ALONE = 'repositories are reached with the oauth-token-string alone';
const PRIVATE_KEY: UnsupportedFields = {
  'attributes/private-key': 'it belongs to Azure DevOps, whose repositories are not served',
};
const KEYS: UnsupportedFields = {
  ...PRIVATE_KEY,
  'attributes/key': TOKEN_ALONE,
  'attributes/secret': TOKEN_ALONE,
  'attributes/rsa-public-key': TOKEN_ALONE,
};

/** `meta` with warnings of fields that have no effect on a client. */
const warnOfUnused = (body: unknown, client: OAuthClient) =>
  withWarnings(warnOfUnsupported(body, signingOf(client) === null ? KEYS : PRIVATE_KEY));

const NO_AZURE =
  'repositories at Azure DevOps are not served: upload configurations from its pipelines instead';
/** The hosted service knows these providers in addition. */
const PROVIDERS_NOT_OFFERED: UnsupportedFields = {
  'attributes/service-provider=ado_server': NO_AZURE,
  'attributes/service-provider=ado_services': NO_AZURE,
  'attributes/service-provider=bitbucket_server_legacy':
    'Bitbucket Server before 5.4 does not sign webhooks: update it, and name it bitbucket_server or bitbucket_data_center',
  'attributes/service-provider=github_app':
    'there are no installations of applications: name github or github_enterprise, with a token',
};

const INCLUDES: Includes = { oauth_tokens: ['oauth-tokens'], projects: ['projects'] };

/** The client with those of its projects that the caller may see. */
const loadResource = async (
  context: ServiceContext,
  access: OAuthClientAccess,
): Promise<ResourceOf<typeof OAUTH_CLIENT>> => {
  const { client } = access;
  const seen = await Promise.all(
    client.projectIds.map((id) => findReadableProject(readableOnly(context.store), access, id)),
  );
  const projectIds = seen.flatMap((project) => project?.id ?? []);
  const isOff = await isOAuthClientOff(context.store, client.id);
  return toOAuthClientResource(context, { ...access, client: { ...client, projectIds } }, isOff);
};

const loadIncluded = async (
  reads: Reads,
  include: ReadonlySet<string>,
  accesses: readonly OAuthClientAccess[],
): Promise<readonly Resource[]> => {
  const included = new IncludedResources();
  const loadToken = async (id: string): Promise<Resource | undefined> => {
    const token = await oauthTokenRecords.find(reads, id);
    return token && toOAuthTokenResource(token);
  };
  for (const access of accesses) {
    const { tokenId, projectIds } = access.client;
    if (include.has('oauth_tokens') && tokenId !== null) await included.add(loadToken(tokenId));
    for (const id of include.has('projects') ? projectIds : []) {
      await included.add(loadRelatedProject(reads, access, id));
    }
  }
  return included.all;
};

const COLLECTION = '/organizations/:organization_name/oauth-clients';
const ONE = '/oauth-clients/:oauth_client_id';

export const oauthClientRoutes = (context: WorkspacesContext): Route[] => {
  const changeProjects = (method: 'POST' | 'DELETE', change: 'add' | 'remove', summary: string) =>
    endpoint({
      method,
      path: `${ONE}/relationships/projects`,
      summary,
      body: { schema: PROJECTS },
      success: 204,
      handle: async ({ principal, params, body }) => {
        const ids = body.data.map(({ id }) => id);
        const clientId = params.oauth_client_id;
        await changeClientProjects(context, principal, clientId, ids, change);
        return undefined;
      },
    });
  return jsonApiRoutes('OAuth clients', [
    endpoint({
      method: 'POST',
      path: COLLECTION,
      summary: 'Create an OAuth client, with a token or with a key pair',
      answers: one('oauth-clients'),
      body: { schema: CREATE, notOffered: PROVIDERS_NOT_OFFERED },
      success: 201,
      handle: async ({ principal, params, body }) => {
        const { attributes, relationships } = body.data;
        const absent = {
          name: null,
          key: null,
          secret: null,
          rsaPublicKey: null,
          privateKey: null,
          oauthTokenString: null,
        };
        const projectIds = (relationships?.projects?.data ?? []).map(({ id }) => id);
        const access = await createOAuthClient(context, principal, params.organization_name, {
          ...absent,
          organizationScoped: true,
          agentPoolId: relationships?.['agent-pool']?.data?.id ?? null,
          projectIds: [...new Set(projectIds)],
          ...toCamelKeys(attributes),
        });
        const data = await loadResource(context, access);
        return { document: { data, ...warnOfUnused(body, access.client) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: COLLECTION,
      summary: 'List OAuth clients',
      answers: pageOf('oauth-clients', { includes: INCLUDES }),
      handle: async ({ head, principal, params, query }) => {
        const all = await listOAuthClients(context, principal, params.organization_name);
        const include = parseInclude(query, INCLUDES);
        const page = parsePage(query);
        const shown = itemsOn(page, all);
        const included = await loadIncluded(context.store, include, shown);
        const data = await Promise.all(shown.map((access) => loadResource(context, access)));
        const totalCount = all.length;
        return { document: toPaginatedDocument(head, { data, page, totalCount, included }) };
      },
    }),
    endpoint({
      method: 'GET',
      path: ONE,
      summary: 'Show an OAuth client, without its secrets',
      answers: one('oauth-clients', { includes: INCLUDES }),
      handle: async ({ principal, params, query }) => {
        const include = parseInclude(query, INCLUDES);
        const id = params.oauth_client_id;
        const access = await requireOAuthClient(context.store, principal, id);
        const included = await loadIncluded(context.store, include, [access]);
        const data = await loadResource(context, access);
        return { document: { data, ...(included.length === 0 ? {} : { included }) } };
      },
    }),
    endpoint({
      method: 'PATCH',
      path: ONE,
      summary: 'Update an OAuth client',
      answers: one('oauth-clients'),
      body: { schema: UPDATE },
      handle: async ({ principal, params, body }) => {
        const { attributes, relationships } = body.data;
        const pool = relationships?.['agent-pool'];
        const change = {
          ...toCamelKeys(attributes),
          ...(pool !== undefined && { agentPoolId: pool.data?.id ?? null }),
        };
        const id = params.oauth_client_id;
        const access = await updateOAuthClient(context, principal, id, change);
        const data = await loadResource(context, access);
        return { document: { data, ...warnOfUnused(body, access.client) } };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: ONE,
      summary: 'Delete an OAuth client with its token',
      success: 204,
      handle: async ({ principal, params }) => {
        await deleteOAuthClient(context, principal, params.oauth_client_id);
        return undefined;
      },
    }),
    changeProjects('POST', 'add', 'Open an OAuth client to projects'),
    changeProjects('DELETE', 'remove', 'Close an OAuth client to projects'),
  ]);
};
