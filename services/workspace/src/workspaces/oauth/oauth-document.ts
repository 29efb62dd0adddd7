import { API_PREFIX, type Resource, toMany, toOne, toTimestamp } from '@keelson/jsonapi';
import { connectPath, type OAuthToken, SERVICE_PROVIDERS } from '../model/domain/oauth-client.ts';
import type { OAuthClientAccess } from './oauth-operations.ts';

/** A client without its secrets. @param baseUrl scheme and authority by which the caller reached the service */
export const toOAuthClientResource = (access: OAuthClientAccess, baseUrl: string): Resource => {
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
      'callback-url': path && baseUrl + path,
      'connect-path': path,
      'organization-scoped': client.organizationScoped,
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

export const toOAuthTokenResource = (token: OAuthToken): Resource => ({
  id: token.id,
  type: 'oauth-tokens',
  attributes: {
    'created-at': toTimestamp(token.createdAtMs),
    'service-provider-user': null,
    'has-ssh-key': token.sshKeyId !== null,
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
