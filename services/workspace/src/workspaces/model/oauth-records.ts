import { collection } from '@keelson/storage';
import { Type } from 'typebox';
import { oauthClientShape, oauthTokenShape } from './domain/oauth-client.ts';

/** Keyed by `oc-…`. */
export const oauthClientRecords = collection('oauth-clients', {
  scope: 'shared',
  version: 1,
  shape: oauthClientShape,
});

/** Keyed by `ot-…`. */
export const oauthTokenRecords = collection('oauth-tokens', {
  scope: 'shared',
  version: 1,
  shape: oauthTokenShape,
});

/** Organization id, client id. */
export const organizationOAuthClients = collection('organization-oauth-clients', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({}),
});
