/** `identity/oidc`: tokens that say who their holder is, and what others need to verify them. */
import type { Route } from '@keelson/edge';
import { SIGNING_ALGORITHMS } from '@keelson/openid/algorithms';
import { field, rawResponse, secretsRoutes, topLevel } from '@keelson/secrets-api';
import { MAX_TOKEN_LENGTH } from '../tokens/domain/token-text.ts';
import { MAX_TEMPLATE } from './domain/claim-template.ts';
import type { NamedKey } from './domain/named-key.ts';
import type { IdentityRole } from './domain/token-role.ts';
import {
  deleteRole,
  inactiveBecause,
  issueIdentityToken,
  listRoles,
  putRole,
  readIssuer,
  readRole,
  roleIssuer,
  roleKeySet,
  writeIssuer,
} from './identity-token-operations.ts';
import { deleteKey, findKey, listKeys, putKey, rotateKey } from './named-key-operations.ts';
import type { OidcContext } from './oidc-context.ts';
import {
  DISCOVERY_HEADERS,
  entityOf,
  ISSUER_WARNING,
  KEY_SET_HEADERS,
  MAX_LIST,
  nameOf,
  OIDC,
  TAG,
} from './oidc-fields.ts';

const NO_ISSUER = 'Neither "issuer" nor KEELSON_PUBLIC_URL is set: no token can be issued.';

const json = (document: object): Buffer => Buffer.from(JSON.stringify(document));

const configRoutes = (context: OidcContext): Route[] =>
  secretsRoutes({
    path: `${OIDC}/config`,
    tag: TAG,
    hasSettings: true,
    fields: {
      issuer: field.string({
        description:
          'Scheme, host and optional port of the issuer of tokens; empty, it is the public address of the cluster.',
        maxLength: 512,
      }),
    },
    operations: {
      read: {
        summary: 'Read the issuer of identity tokens',
        handle: async ({ namespace, warnings }) => {
          const issuer = await readIssuer(context, namespace.id);
          if (issuer === '' && context.publicUrl === undefined) warnings.push(NO_ISSUER);
          return { data: { issuer } };
        },
      },
      update: {
        summary: 'Set the issuer of identity tokens',
        handle: async ({ namespace, fields: { issuer }, warnings }) => {
          if (issuer === undefined) return undefined;
          await writeIssuer(context, namespace.id, issuer);
          if (issuer !== '') warnings.push(ISSUER_WARNING);
          return undefined;
        },
      },
    },
  });

const keyDocument = (key: NamedKey) => ({
  algorithm: key.algorithm,
  rotation_period: key.rotationSeconds,
  verification_ttl: key.verificationSeconds,
  allowed_client_ids: key.allowedClientIds,
});

const keyName = nameOf('key');

const KEY_FIELDS = {
  name: keyName,
  rotation_period: field.durationSeconds({
    description: 'Time after which another key signs; 24 hours in a new one.',
  }),
  verification_ttl: field.durationSeconds({
    description:
      'Time for which a key is published after it has signed for the last time; 24 hours in a new one.',
  }),
  allowed_client_ids: field.commaList({
    description: 'Ids of the clients and roles whose tokens it may sign; "*" stands for all.',
    maxLength: MAX_LIST,
  }),
  algorithm: field.string({
    description: `One of ${SIGNING_ALGORITHMS.join(', ')}; RS256 in a new key. Another one signs from the next rotation on.`,
    maxLength: 16,
  }),
} as const;

const keyRoutes = (context: OidcContext): Route[] => [
  ...secretsRoutes({
    path: `${OIDC}/key`,
    tag: TAG,
    fields: {},
    operations: {
      list: {
        summary: 'List named keys',
        handle: async ({ namespace }) => ({
          data: { keys: await listKeys(context, namespace.id) },
        }),
      },
    },
  }),
  ...secretsRoutes({
    path: `${OIDC}/key/:name`,
    tag: TAG,
    hasSettings: true,
    fields: KEY_FIELDS,
    operations: {
      read: {
        summary: 'Read a named key',
        handle: async ({ namespace, fields }) => {
          const key = await findKey(context.store, namespace.id, fields.name);
          return key && { data: keyDocument(key) };
        },
      },
      update: {
        summary: 'Create a named key or change it; parameters that are not given stay as they are',
        handle: async ({ namespace, fields: { name, ...changes } }) => {
          await putKey(context, namespace.id, name, changes);
          return undefined;
        },
      },
      delete: {
        summary: 'Delete a named key that no role or client names',
        handle: async ({ namespace, fields: { name } }) => {
          await deleteKey(context, namespace.id, name);
          return undefined;
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${OIDC}/key/:name/rotate`,
    tag: TAG,
    fields: {
      name: keyName,
      verification_ttl: field.durationSeconds({
        description:
          'Time for which the key that has signed is published, in place of the setting.',
        check: (seconds) =>
          seconds <= 10 * 365 * 86_400 ? undefined : 'verification_ttl has at most ten years',
      }),
    },
    operations: {
      update: {
        summary: 'Let the next key sign at once',
        handle: async ({ namespace, fields }) => {
          await rotateKey(context, namespace.id, fields.name, fields.verification_ttl);
          return undefined;
        },
      },
    },
  }),
];

const roleDocument = ({ clientId, key, template, ttlSeconds }: IdentityRole) => ({
  client_id: clientId,
  key,
  template,
  ttl: ttlSeconds,
});

const roleName = nameOf('role');

const roleRoutes = (context: OidcContext): Route[] => [
  ...secretsRoutes({
    path: `${OIDC}/role`,
    tag: TAG,
    fields: {},
    operations: {
      list: {
        summary: 'List roles of identity tokens',
        handle: async ({ namespace }) => ({
          data: { keys: await listRoles(context, namespace.id) },
        }),
      },
    },
  }),
  ...secretsRoutes({
    path: `${OIDC}/role/:name`,
    tag: TAG,
    hasSettings: true,
    fields: {
      name: roleName,
      key: field.string({ description: 'Name of the key that signs.', maxLength: 128 }),
      template: field.string({
        description: 'Template of further claims: JSON, also in base64.',
        maxLength: MAX_TEMPLATE,
      }),
      client_id: field.string({
        description: 'Audience of the tokens; a random one in a new role.',
        maxLength: 256,
      }),
      ttl: field.durationSeconds({ description: 'Lifetime of tokens; 24 hours in a new role.' }),
    },
    operations: {
      read: {
        summary: 'Read a role of identity tokens',
        handle: async ({ namespace, fields: { name } }) => {
          const role = await readRole(context, namespace.id, name);
          return role && { data: roleDocument(role) };
        },
      },
      update: {
        summary: 'Create a role or change it; parameters that are not given stay as they are',
        handle: async ({ namespace, fields: { name, ...changes } }) => {
          await putRole(context, namespace.id, name, changes);
          return undefined;
        },
      },
      delete: {
        summary: 'Delete a role of identity tokens',
        handle: async ({ namespace, fields: { name } }) => {
          await deleteRole(context, namespace.id, name);
          return undefined;
        },
      },
    },
  }),
];

const tokenRoutes = (context: OidcContext): Route[] => [
  ...secretsRoutes({
    path: `${OIDC}/token/:name`,
    tag: TAG,
    fields: { name: roleName },
    operations: {
      read: {
        summary: 'Issue a token of a role for the entity of the request',
        handle: async ({ namespace, fields: { name }, caller }) => {
          const issued = await issueIdentityToken(context, namespace, name, entityOf(caller));
          return {
            data: { client_id: issued.clientId, token: issued.token, ttl: issued.ttlSeconds },
          };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${OIDC}/introspect`,
    tag: TAG,
    fields: {
      token: field.string({
        description: 'Token of a role.',
        required: true,
        maxLength: MAX_TOKEN_LENGTH,
      }),
      client_id: field.string({
        description: 'Client id that the token must be for.',
        maxLength: 256,
      }),
    },
    operations: {
      update: {
        summary: 'Whether a token of a role is valid and its entity is enabled',
        answer: {
          document: { active: { type: 'boolean' }, error: { type: 'string' } },
        },
        handle: async ({ namespace, fields }) => {
          const error = await inactiveBecause(context, namespace, fields.token, fields.client_id);
          return topLevel(error === undefined ? { active: true } : { active: false, error });
        },
      },
    },
  }),
];

const discoveryRoutes = (context: OidcContext): Route[] => [
  ...secretsRoutes({
    path: `${OIDC}/.well-known/openid-configuration`,
    tag: TAG,
    fields: {},
    operations: {
      read: {
        summary: 'Where the keys of identity tokens are (OpenID Connect Discovery)',
        answer: {
          document: {
            issuer: { type: 'string' },
            jwks_uri: { type: 'string' },
            response_types_supported: { type: 'array', items: { type: 'string' } },
            subject_types_supported: { type: 'array', items: { type: 'string' } },
            id_token_signing_alg_values_supported: { type: 'array', items: { type: 'string' } },
          },
        },
        handle: async ({ namespace }) => {
          const issuer = await roleIssuer(context, namespace);
          const document = {
            issuer,
            jwks_uri: `${issuer}/.well-known/keys`,
            response_types_supported: ['id_token'],
            subject_types_supported: ['public'],
            id_token_signing_alg_values_supported: SIGNING_ALGORITHMS,
          };
          return rawResponse(200, 'application/json', json(document), DISCOVERY_HEADERS);
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${OIDC}/.well-known/keys`,
    tag: TAG,
    fields: {},
    operations: {
      read: {
        summary: 'The keys that verify identity tokens (RFC 7517)',
        answer: { document: { keys: { type: 'array', items: { type: 'object' } } } },
        handle: async ({ namespace }) => {
          const set = await roleKeySet(context, namespace.id);
          return rawResponse(200, 'application/json', json(set), KEY_SET_HEADERS);
        },
      },
    },
  }),
];

export const identityTokenRoutes = (context: OidcContext): Route[] => [
  ...configRoutes(context),
  ...keyRoutes(context),
  ...roleRoutes(context),
  ...tokenRoutes(context),
  ...discoveryRoutes(context),
];
