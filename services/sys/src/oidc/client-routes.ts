/** `identity/oidc/scope`, `assignment`, `client` and `provider`: who may sign in where. */
import type { Route } from '@keelson/edge';
import { field, type JsonObject, secretsRoutes } from '@keelson/secrets-api';
import {
  deleteAssignment,
  deleteClient,
  deleteProvider,
  deleteScope,
  findAssignment,
  findProvider,
  listAssignments,
  listClients,
  listProviders,
  providerIssuer,
  putAssignment,
  putClient,
  putProvider,
  putScope,
  readClient,
} from './client-operations.ts';
import { MAX_TEMPLATE } from './domain/claim-template.ts';
import { allowsClient, type Client, clientTypeOf, type Provider } from './domain/client.ts';
import type { OidcContext, Place } from './oidc-context.ts';
import { ISSUER_WARNING, MAX_LIST, nameOf, OIDC, PROVIDER_TAG as TAG } from './oidc-fields.ts';
import { scopes } from './oidc-records.ts';

const scopeRoutes = (context: OidcContext): Route[] => [
  ...secretsRoutes({
    path: `${OIDC}/scope`,
    tag: TAG,
    fields: {},
    operations: {
      list: {
        summary: 'List scopes',
        handle: async ({ namespace }) => ({
          data: { keys: await scopes.keys(context.store, [namespace.id]) },
        }),
      },
    },
  }),
  ...secretsRoutes({
    path: `${OIDC}/scope/:name`,
    tag: TAG,
    hasSettings: true,
    fields: {
      name: nameOf('scope'),
      template: field.string({
        description: 'Template of the claims of the scope: JSON, also in base64.',
        maxLength: MAX_TEMPLATE,
      }),
      description: field.string({ description: 'For people: returned only.', maxLength: 1024 }),
    },
    operations: {
      read: {
        summary: 'Read a scope',
        handle: async ({ namespace, fields: { name } }) => {
          const scope = await scopes.find(context.store, namespace.id, name);
          return scope && { data: { template: scope.template, description: scope.description } };
        },
      },
      update: {
        summary: 'Create a scope or change it; parameters that are not given stay as they are',
        handle: async ({ namespace, fields: { name, template, description } }) => {
          await putScope(context, namespace.id, name, {
            ...(template !== undefined && { template }),
            ...(description !== undefined && { description }),
          });
          return undefined;
        },
      },
      delete: {
        summary: 'Delete a scope that no provider has',
        handle: async ({ namespace, fields: { name } }) => {
          await deleteScope(context, namespace.id, name);
          return undefined;
        },
      },
    },
  }),
];

const assignmentRoutes = (context: OidcContext): Route[] => [
  ...secretsRoutes({
    path: `${OIDC}/assignment`,
    tag: TAG,
    fields: {},
    operations: {
      list: {
        summary: 'List assignments',
        handle: async ({ namespace }) => ({
          data: { keys: await listAssignments(context, namespace.id) },
        }),
      },
    },
  }),
  ...secretsRoutes({
    path: `${OIDC}/assignment/:name`,
    tag: TAG,
    hasSettings: true,
    fields: {
      name: nameOf('assignment'),
      entity_ids: field.commaList({ description: 'Ids of entities.', maxLength: MAX_LIST }),
      group_ids: field.commaList({ description: 'Ids of groups.', maxLength: MAX_LIST }),
    },
    operations: {
      read: {
        summary: 'Read an assignment',
        handle: async ({ namespace, fields: { name } }) => {
          const found = await findAssignment(context.store, namespace.id, name);
          return found && { data: { entity_ids: found.entityIds, group_ids: found.groupIds } };
        },
      },
      update: {
        summary:
          'Create an assignment or change it; parameters that are not given stay as they are',
        handle: async ({ namespace, fields: { name, entity_ids, group_ids } }) => {
          await putAssignment(context, namespace.id, name, {
            ...(entity_ids !== undefined && { entityIds: [...entity_ids] }),
            ...(group_ids !== undefined && { groupIds: [...group_ids] }),
          });
          return undefined;
        },
      },
      delete: {
        summary: 'Delete an assignment that no client has',
        handle: async ({ namespace, fields: { name } }) => {
          await deleteAssignment(context, namespace.id, name);
          return undefined;
        },
      },
    },
  }),
];

/** Without the secret, which only the read of one client has. */
const clientDocument = (client: Client): JsonObject => ({
  redirect_uris: client.redirectUris,
  assignments: client.assignments,
  key: client.key,
  id_token_ttl: client.idTokenSeconds,
  access_token_ttl: client.accessTokenSeconds,
  client_id: client.clientId,
  client_type: clientTypeOf(client),
});

const withInfo = (found: readonly (readonly [string, JsonObject])[]): JsonObject => ({
  keys: found.map(([name]) => name),
  key_info: Object.fromEntries(found),
});

const clientRoutes = (context: OidcContext): Route[] => [
  ...secretsRoutes({
    path: `${OIDC}/client`,
    tag: TAG,
    fields: {},
    operations: {
      list: {
        summary: 'List clients',
        handle: async ({ namespace }) => {
          const found = await listClients(context, namespace.id);
          return {
            data: withInfo(found.map(([name, client]) => [name, clientDocument(client)] as const)),
          };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${OIDC}/client/:name`,
    tag: TAG,
    hasSettings: true,
    fields: {
      name: nameOf('client'),
      key: field.string({
        description: 'Name of the key that signs its ID tokens; it cannot be changed.',
        maxLength: 128,
      }),
      redirect_uris: field.commaList({
        description:
          'Addresses that a browser may return to, compared character by character but for the port of 127.0.0.1, ::1 and localhost.',
        maxLength: MAX_LIST,
      }),
      assignments: field.commaList({
        description: 'Names of the assignments of those who may sign in; allow_all is of all.',
        maxLength: MAX_LIST,
      }),
      client_type: field.string({
        description:
          '"confidential", with a secret, or "public", which must use PKCE; it cannot be changed.',
        maxLength: 32,
      }),
      id_token_ttl: field.durationSeconds({
        description: 'Lifetime of ID tokens; 24 hours in a new client.',
      }),
      access_token_ttl: field.durationSeconds({
        description: 'Lifetime of access tokens; 24 hours in a new client.',
      }),
    },
    operations: {
      read: {
        summary: 'Read a client, with its secret',
        handle: async ({ namespace, fields: { name } }) => {
          const client = await readClient(context, namespace.id, name);
          if (client === undefined) return undefined;
          const { clientSecret } = client;
          return {
            data: {
              ...clientDocument(client),
              ...(clientSecret !== undefined && { client_secret: clientSecret }),
            },
          };
        },
      },
      update: {
        summary: 'Create a client or change it; parameters that are not given stay as they are',
        handle: async ({ namespace, fields: { name, ...changes } }) => {
          await putClient(context, namespace.id, name, changes);
          return undefined;
        },
      },
      delete: {
        summary: 'Delete a client, which ends its access tokens',
        handle: async ({ namespace, fields: { name } }) => {
          await deleteClient(context, namespace.id, name);
          return undefined;
        },
      },
    },
  }),
];

/** The issuer is "" while the cluster has no address that others know. */
const providerDocument = (
  context: OidcContext,
  place: Place,
  name: string,
  provider: Provider,
): JsonObject => ({
  issuer:
    provider.issuer === '' && context.publicUrl === undefined
      ? ''
      : providerIssuer(context, place, name, provider),
  allowed_client_ids: provider.allowedClientIds,
  scopes_supported: provider.scopesSupported,
});

const providerRoutes = (context: OidcContext): Route[] => [
  ...secretsRoutes({
    path: `${OIDC}/provider`,
    tag: TAG,
    fields: {
      allowed_client_id: field.string({
        description: 'Lists only the providers that allow this client id.',
        default: '',
        maxLength: 256,
      }),
    },
    operations: {
      list: {
        summary: 'List providers',
        handle: async ({ namespace, fields: { allowed_client_id: clientId } }) => {
          const found = await listProviders(context, namespace.id);
          return {
            data: withInfo(
              found
                .filter(([, provider]) => clientId === '' || allowsClient(provider, clientId))
                .map(
                  ([name, one]) => [name, providerDocument(context, namespace, name, one)] as const,
                ),
            ),
          };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${OIDC}/provider/:name`,
    tag: TAG,
    hasSettings: true,
    fields: {
      name: nameOf('provider'),
      issuer: field.string({
        description:
          'Scheme, host and optional port of the issuer; empty, it is the public address of the cluster.',
        maxLength: 512,
      }),
      allowed_client_ids: field.commaList({
        description: 'Ids of the clients that may use it; "*" stands for all.',
        maxLength: MAX_LIST,
      }),
      scopes_supported: field.commaList({
        description: 'Names of the scopes that clients may request, besides openid.',
        maxLength: MAX_LIST,
      }),
    },
    operations: {
      read: {
        summary: 'Read a provider',
        handle: async ({ namespace, fields: { name } }) => {
          const provider = await findProvider(context.store, namespace.id, name);
          return provider && { data: providerDocument(context, namespace, name, provider) };
        },
      },
      update: {
        summary: 'Create a provider or change it; parameters that are not given stay as they are',
        handle: async ({ namespace, fields, warnings }) => {
          const { name, issuer, allowed_client_ids, scopes_supported } = fields;
          const found = await putProvider(context, namespace.id, name, {
            ...(issuer !== undefined && { issuer }),
            ...(allowed_client_ids !== undefined && { allowedClientIds: [...allowed_client_ids] }),
            ...(scopes_supported !== undefined && { scopesSupported: [...scopes_supported] }),
          });
          if (issuer !== undefined && issuer !== '') warnings.push(ISSUER_WARNING);
          warnings.push(...found);
          return undefined;
        },
      },
      delete: {
        summary: 'Delete a provider',
        handle: async ({ namespace, fields: { name } }) => {
          await deleteProvider(context, namespace.id, name);
          return undefined;
        },
      },
    },
  }),
];

export const oidcClientRoutes = (context: OidcContext): Route[] => [
  ...scopeRoutes(context),
  ...assignmentRoutes(context),
  ...clientRoutes(context),
  ...providerRoutes(context),
];
