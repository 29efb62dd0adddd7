/** How many certificates expire soon, for metrics. */
import { type MountScope } from '@keelson/engine';
import type { Store } from '@keelson/storage';
import type { CertificateTables } from './certificate-projections.ts';

/** Bounds the work of a reading: a range of this size takes about 10 ms. */
const COUNTED_LIMIT = 100_000;

/**
 * Number of stored certificates of a mount that expire between the two times (epoch milliseconds), revoked ones
 * included; at most 100,000.
 */
export const countExpiring = async (
  store: Store,
  mount: MountScope,
  fromMs: number,
  toMs: number,
): Promise<number> => {
  const [row] = await store.select<CertificateTables, { readonly expiring: number }>((tables) =>
    tables
      .selectFrom(
        tables
          .selectFrom('pki_certificate')
          .select('serial')
          .where('mount_uuid', '=', mount.uuid)
          .where('not_after', '>', fromMs)
          .where('not_after', '<=', toMs)
          .limit(COUNTED_LIMIT)
          .as('range'),
      )
      .select(({ fn }) => fn.countAll<number>().as('expiring')),
  );
  return Number(row?.expiring ?? 0);
};
