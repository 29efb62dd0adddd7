import { keyedRecords } from '../../base/keyed-records.ts';

/** A person who has been sent to a provider to authorize a client there. */
export interface PendingAuthorization {
  /** The provider's name of the attempt. */
  readonly requestToken: string;
  /** Who has begun it, and alone may end it. */
  readonly principal: { readonly kind: string; readonly id: string };
  readonly expiresAtMs: number;
}

/** Keyed by `oc-…`: the last attempt replaces those before it. */
export const pendingAuthorizations = keyedRecords<PendingAuthorization>(
  'shared/oauth-authorizations/',
);
