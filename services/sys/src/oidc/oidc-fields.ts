/** Parameters that the routes of the provider have in common. */
import type { Caller } from '@keelson/proto/edge/v1/edge';
import { field } from '@keelson/secrets-api';
import type { EntityRef } from '../tokens/domain/token-entry.ts';

export const TAG = 'identity tokens';
export const PROVIDER_TAG = 'OpenID provider';
export const OIDC = '/identity/oidc';

const NAME = /^\w(?:[\w.-]{0,126}\w)?$/;

/** @param of "key", "client" */
export const nameOf = (of: string) =>
  field.string({
    description: `Name of the ${of}.`,
    required: true,
    check: (text) =>
      NAME.test(text)
        ? undefined
        : `the name of a ${of} has 1 to 128 letters, digits and the characters _ . -, and begins and ends with a letter or digit`,
  });

/** All elements of a list together. */
export const MAX_LIST = 65_536;

/** The entity of a token, in the namespace where it signed in. */
export const entityOf = (caller: Caller | undefined): EntityRef | undefined =>
  caller === undefined || caller.entityId === ''
    ? undefined
    : { id: caller.entityId, namespaceId: caller.namespace?.id ?? '' };

/** Others keep a key set for less than the shortest rotation_period, in which the next key is published already. */
export const KEY_SET_HEADERS = { 'cache-control': 'public, max-age=60' } as const;
export const DISCOVERY_HEADERS = { 'cache-control': 'public, max-age=3600' } as const;

export const ISSUER_WARNING =
  'If "issuer" is set explicitly, all tokens must be validated against that address, including those issued by ' +
  'secondary clusters. Setting issuer to "" will restore the default behavior of using the public address of the cluster.';
