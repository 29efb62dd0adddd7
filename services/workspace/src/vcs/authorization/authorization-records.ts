import { collection } from '@keelson/storage';
import { Type } from 'typebox';

/** A person who has been sent to a provider to authorize a client there. */
export const pendingAuthorizationShape = Type.Object({
  /** The provider's name of the attempt. */
  requestToken: Type.String(),
  /** Who has begun it, and alone may end it. */
  principal: Type.Object({ kind: Type.String(), id: Type.String() }),
  expiresAtMs: Type.Number(),
});

/** Keyed by `oc-…`: the last attempt replaces those before it. */
export const pendingAuthorizations = collection('oauth-authorizations', {
  scope: 'shared',
  version: 1,
  shape: pendingAuthorizationShape,
  owner: { kind: 'oauth-client', by: '*' },
});
