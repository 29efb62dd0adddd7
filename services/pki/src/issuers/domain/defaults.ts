/** Which issuer is used where a request names none (reference §2.1, §2.5). */

import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const defaultsShape = Type.Object({
  /** "" when there is none. */
  issuerId: Type.String(),
  followsLatestIssuer: Type.Boolean(),
});
export type Defaults = Shaped<typeof defaultsShape>;

export const NO_DEFAULTS: Defaults = { issuerId: '', followsLatestIssuer: false };

export interface Arrivals {
  /** New issuers that have a key. */
  readonly issuerIds: readonly string[];
  /** Existing issuers whose key was imported now. */
  readonly completedIssuerIds: readonly string[];
}

/**
 * The defaults after issuers were added. If there was no default, the first issuer with a key becomes it; the
 * latest issuer becomes the default only if it is unambiguous.
 */
export const nextDefaults = (
  before: Defaults,
  { issuerIds, completedIssuerIds }: Arrivals,
): { readonly defaults: Defaults; readonly warnings: readonly string[] } => {
  const [latest] = issuerIds;
  const follows = before.followsLatestIssuer && issuerIds.length === 1;
  const first = latest ?? completedIssuerIds[0] ?? '';
  return {
    defaults: {
      ...before,
      issuerId: follows ? (latest ?? '') : before.issuerId || first,
    },
    warnings:
      before.followsLatestIssuer && issuerIds.length > 1
        ? [
            'default_follows_latest_issuer is set, but more than one issuer with a key was imported: the default issuer stays as it is',
          ]
        : [],
  };
};
