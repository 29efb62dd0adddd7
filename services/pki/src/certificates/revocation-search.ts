/** Revocations by issuer, a few milliseconds of work at a time. */

import type { Store } from '@keelson/storage';
import type { MountScope } from '../mounts/mount-records.ts';
import type { CertificateTables } from './certificate-projections.ts';
import { type RevocationScope } from './revocation-records.ts';

const TABLES = { own: 'pki_revocation', all: 'pki_cluster_revocation' } as const;

/** Rows of one step. */
const PAGE_SIZE = 2000;

/** Ids of the issuers whose certificates were revoked, each found by one step in an index. */
export async function* revokingIssuerIds(
  store: Store,
  { uuid }: MountScope,
  scope: RevocationScope = 'own',
): AsyncGenerator<string> {
  let rows = await store.select<CertificateTables, { issuer_id: string }>((tables) =>
    tables
      .selectFrom(TABLES[scope])
      .select('issuer_id')
      .where('mount_uuid', '=', uuid)
      .orderBy('issuer_id')
      .limit(1),
  );
  for (let found = rows[0]; found !== undefined; found = rows[0]) {
    const { issuer_id: last } = found;
    yield last;
    rows = await store.select<CertificateTables, { issuer_id: string }>((tables) =>
      tables
        .selectFrom(TABLES[scope])
        .select('issuer_id')
        .where('mount_uuid', '=', uuid)
        .where('issuer_id', '>', last)
        .orderBy('issuer_id')
        .limit(1),
    );
  }
}

export interface RevocationRow {
  readonly serial: string;
  readonly revoked_at: number;
  readonly reason: number;
}

/**
 * Revocations of one issuer's certificates in order of their serial numbers, page by page. What several
 * clusters revoked comes once, with its first time and the reason given then.
 */
export async function* revocationsOf(
  store: Store,
  { uuid }: MountScope,
  issuerId: string,
  scope: RevocationScope = 'own',
  pageSize = PAGE_SIZE,
): AsyncGenerator<readonly RevocationRow[]> {
  let after = '';
  for (;;) {
    const rows = await store.select<CertificateTables, RevocationRow>((tables) =>
      tables
        .selectFrom(TABLES[scope])
        .select(['serial', 'revoked_at', 'reason'])
        .where('mount_uuid', '=', uuid)
        .where('issuer_id', '=', issuerId)
        .where('serial', '>', after)
        .orderBy('serial')
        .orderBy('revoked_at')
        .limit(pageSize),
    );
    yield rows.filter(({ serial }, index) => serial !== rows[index - 1]?.serial);
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageSize) return;
    after = last.serial;
  }
}
