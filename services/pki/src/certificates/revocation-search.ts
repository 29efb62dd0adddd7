/** Revocations by issuer, a few milliseconds of work at a time. */

import { type MountScope } from '@keelson/engine';
import type { Store } from '@keelson/storage';
import { REVOCATION_REASON } from '@keelson/x509';
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

/** One row for each certificate: its first time, and the compromise if any cluster found one, else the first reason. */
const mergeBySerial = (rows: readonly RevocationRow[]): readonly RevocationRow[] => {
  const merged: RevocationRow[] = [];
  for (const row of rows) {
    const last = merged.at(-1);
    if (last?.serial !== row.serial) merged.push(row);
    // PostgreSQL returns 64-bit columns as text.
    else if (Number(row.reason) === REVOCATION_REASON.keyCompromise)
      merged[merged.length - 1] = { ...last, reason: row.reason };
  }
  return merged;
};

/** Revocations of one issuer's certificates in order of their serial numbers, page by page. */
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
    const merged = mergeBySerial(rows);
    const isLast = rows.length < pageSize;
    // The rows of the last certificate may continue on the next page.
    const page = isLast || merged.length === 1 ? merged : merged.slice(0, -1);
    yield page;
    const last = page.at(-1);
    if (last === undefined || isLast) return;
    after = last.serial;
  }
}
