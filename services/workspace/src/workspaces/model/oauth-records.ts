import { collection } from '@keelson/storage';
import { oauthClientShape, oauthTokenShape } from './domain/oauth-client.ts';

/** Keyed by `oc-…`. */
export const oauthClientRecords = collection('oauth-clients', {
  scope: 'shared',
  version: 1,
  shape: oauthClientShape,
  kind: 'oauth-client',
  owner: { kind: 'organization', by: 'organizationId' },
  index: ['organizationId'],
});

/** Keyed by `ot-…`. */
export const oauthTokenRecords = collection('oauth-tokens', {
  scope: 'shared',
  version: 1,
  shape: oauthTokenShape,
  owner: { kind: 'oauth-client', by: 'clientId' },
  index: ['clientId', 'sshKeyId'],
});
