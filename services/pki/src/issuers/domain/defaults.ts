/** Which issuer and key stand in where a request names none (reference §2.1, §2.5). */

export interface Defaults {
  /** "" when there is none. */
  readonly issuerId: string;
  readonly followsLatestIssuer: boolean;
  /** "" when there is none. */
  readonly keyId: string;
}

export const NO_DEFAULTS: Defaults = { issuerId: '', followsLatestIssuer: false, keyId: '' };

export interface Arrivals {
  /** New issuers that have a key. */
  readonly issuerIds: readonly string[];
  /** Issuers there were that have a key now. */
  readonly completedIssuerIds: readonly string[];
  readonly keyIds: readonly string[];
}

/**
 * The defaults after something arrived: the first issuer with a key and the first key become the
 * default where there is none; the latest issuer is followed only where it is clear which one that is.
 */
export const nextDefaults = (
  before: Defaults,
  { issuerIds, completedIssuerIds, keyIds }: Arrivals,
): { readonly defaults: Defaults; readonly warnings: readonly string[] } => {
  const [latest] = issuerIds;
  const follows = before.followsLatestIssuer && issuerIds.length === 1;
  const first = latest ?? completedIssuerIds[0] ?? '';
  return {
    defaults: {
      ...before,
      keyId: before.keyId || (keyIds[0] ?? ''),
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
