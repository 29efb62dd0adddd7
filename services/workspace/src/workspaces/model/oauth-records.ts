import { keyedRecords } from '../../base/keyed-records.ts';
import type { OAuthClient, OAuthToken } from './domain/oauth-client.ts';

/** Keyed by `oc-…`. */
export const oauthClientRecords = keyedRecords<OAuthClient>('shared/oauth-clients/');

/** Keyed by `ot-…`. */
export const oauthTokenRecords = keyedRecords<OAuthToken>('shared/oauth-tokens/');

/** Organization id, client id. */
export const organizationOAuthClients = keyedRecords<Record<never, never>>(
  'shared/organization-oauth-clients/',
);
