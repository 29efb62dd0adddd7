import {
  API_PREFIX,
  choice,
  orNull,
  type ResourceOf,
  relatedMany,
  relatedOne,
  resourceSchema,
  timestamp,
  toMany,
  toOne,
  toTimestamp,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import { publicAddress } from '../../base/public-address.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import {
  connectPath,
  type OAuthToken,
  SERVICE_PROVIDERS,
  type ServiceProvider,
} from '../model/domain/oauth-client.ts';
import type { OAuthClientAccess } from './oauth-operations.ts';

export const OAUTH_CLIENT = resourceSchema({
  type: 'oauth-clients',
  description: 'A connection to a repository provider; its secrets are never shown.',
  attributes: {
    name: orNull(Type.String()),
    'created-at': timestamp(),
    'service-provider': choice(Object.keys(SERVICE_PROVIDERS) as ServiceProvider[]),
    'service-provider-display-name': Type.String(),
    'http-url': Type.String(),
    'api-url': Type.String(),
    key: orNull(Type.String()),
    'rsa-public-key': orNull(Type.String()),
    'callback-url': orNull(
      Type.String({
        description: 'Address of the return from the provider; null without a key pair.',
      }),
    ),
    'connect-path': orNull(Type.String({ description: 'The path of it.' })),
    'organization-scoped': Type.Boolean({
      description: 'Whether every workspace of the organization may use it.',
    }),
    'is-disabled': Type.Boolean({
      description:
        'Whether an administrator of the site has switched it off: its provider is neither asked nor heard.',
    }),
  },
  relationships: {
    organization: relatedOne('organizations'),
    projects: relatedMany('projects'),
    'agent-pool': relatedOne('agent-pools'),
    'oauth-tokens': relatedMany('oauth-tokens', 'linked'),
  },
  links: ['self'],
});

export const OAUTH_TOKEN = resourceSchema({
  type: 'oauth-tokens',
  description: 'Its text is never shown.',
  attributes: {
    'created-at': timestamp(),
    'service-provider-user': orNull(Type.String({ description: 'Always null.' })),
    'has-ssh-key': Type.Boolean(),
  },
  relationships: { 'oauth-client': relatedOne('oauth-clients', 'linked') },
  links: ['self'],
});

export const OAUTH_AUTHORIZATION = resourceSchema({
  type: 'oauth-authorizations',
  description: 'An authorization that has begun; its id is that of the client.',
  attributes: {
    'authorize-url': Type.String({ description: 'Where the user allows it at the provider.' }),
    'expires-at': timestamp(),
  },
});

/** A client without its secrets. */
export const toOAuthClientResource = (
  context: Pick<ServiceContext, 'publicUrl'>,
  access: Pick<OAuthClientAccess, 'client' | 'organization'>,
  isOff: boolean,
): ResourceOf<typeof OAUTH_CLIENT> => {
  const { client, organization } = access;
  const path = connectPath(client, organization.name);
  return {
    id: client.id,
    type: 'oauth-clients',
    attributes: {
      name: client.name,
      'created-at': toTimestamp(client.createdAtMs),
      'service-provider': client.serviceProvider,
      'service-provider-display-name': SERVICE_PROVIDERS[client.serviceProvider],
      'http-url': client.httpUrl,
      'api-url': client.apiUrl,
      key: client.key,
      'rsa-public-key': client.rsaPublicKey,
      'callback-url': path && publicAddress(context, path),
      'connect-path': path,
      'organization-scoped': client.organizationScoped,
      'is-disabled': isOff,
    },
    relationships: {
      organization: toOne('organizations', organization.name),
      projects: toMany('projects', client.projectIds),
      'agent-pool': toOne('agent-pools', client.agentPoolId),
      'oauth-tokens': toMany(
        'oauth-tokens',
        client.tokenId === null ? [] : [client.tokenId],
        `${API_PREFIX}/oauth-clients/${client.id}/oauth-tokens`,
      ),
    },
    links: { self: `${API_PREFIX}/oauth-clients/${client.id}` },
  };
};

export const toOAuthTokenResource = (token: OAuthToken): ResourceOf<typeof OAUTH_TOKEN> => ({
  id: token.id,
  type: 'oauth-tokens',
  attributes: {
    'created-at': toTimestamp(token.createdAtMs),
    'service-provider-user': null,
    'has-ssh-key': token.sshKeyId !== null || token.sshKey !== null,
  },
  relationships: {
    'oauth-client': toOne(
      'oauth-clients',
      token.clientId,
      `${API_PREFIX}/oauth-clients/${token.clientId}`,
    ),
  },
  links: { self: `${API_PREFIX}/oauth-tokens/${token.id}` },
});
