/** Numbers of certificates, by the time of their expiry. */
import { type MountScope } from '@keelson/engine';
import type { Store } from '@keelson/storage';
import type { CertificateTables } from './certificate-projections.ts';
import { isRevoked } from './certificate-search-operations.ts';

/** Bounds the work of a reading: a range of this size takes about 10 ms. */
export const COUNTED_LIMIT = 100_000;

/**
 * Number of stored certificates of a mount that expire between the two times (epoch milliseconds); at most 100,000.
 * @param revoked whether those that are revoked count alone, or not at all; all certificates count if absent
 */
export const countExpiring = async (
  store: Store,
  mount: MountScope,
  { fromMs, toMs, revoked }: { fromMs: number; toMs: number; revoked?: boolean },
): Promise<number> => {
  const [row] = await store.select<CertificateTables, { readonly expiring: number }>((tables) => {
    const range = tables
      .selectFrom('pki_certificate')
      .select('serial')
      .where('mount_uuid', '=', mount.uuid)
      .where('not_after', '>', fromMs)
      .where('not_after', '<=', toMs)
      .limit(COUNTED_LIMIT);
    const chosen =
      revoked === undefined
        ? range
        : range.where((is) => (revoked ? isRevoked(is) : is.not(isRevoked(is))));
    return tables
      .selectFrom(chosen.as('range'))
      .select(({ fn }) => fn.countAll<number>().as('expiring'));
  });
  return Number(row?.expiring ?? 0);
};
