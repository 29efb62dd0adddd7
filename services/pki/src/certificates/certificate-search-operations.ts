/** Certificates in order of their expiry. */
import { type MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Store } from '@keelson/storage';
import {
  type ParsedCertificate,
  parseCertificate,
  parseSerialText,
  toSerialKey,
} from '@keelson/x509';
import type { ExpressionBuilder } from 'kysely';
import { type CertificateTables, UNREADABLE_NOT_AFTER } from './certificate-projections.ts';
import { findCertificate } from './certificate-records.ts';

export interface ExpirySearch {
  /** Bounds of notAfter, both included. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Serial number of the last certificate of the page before; "" for the first page. */
  readonly after: string;
  readonly limit: number;
  /** Whether those that are revoked are found alone, or not at all; all certificates are found if absent. */
  readonly revoked?: boolean | undefined;
}

/** A certificate, and when it was revoked. */
export interface FoundCertificate {
  readonly certificate: ParsedCertificate;
  /** Undefined for one that is not revoked; 0 where the record of its revocation cannot be read. */
  readonly revokedAtMs: number | undefined;
}

/** The revocations by this cluster of the certificate of the row, and those that cannot be read. */
const revocationsOf = (is: ExpressionBuilder<CertificateTables, 'pki_certificate'>) =>
  is
    .selectFrom('pki_revocation')
    .whereRef('pki_revocation.mount_uuid', '=', 'pki_certificate.mount_uuid')
    .whereRef('pki_revocation.serial', '=', 'pki_certificate.serial')
    .where((revoked) =>
      revoked.or([
        revoked('pki_revocation.not_after', '=', revoked.ref('pki_certificate.not_after')),
        revoked('pki_revocation.not_after', '=', UNREADABLE_NOT_AFTER),
      ]),
    );

/** Whether this cluster has revoked the certificate of the row. */
export const isRevoked = (is: ExpressionBuilder<CertificateTables, 'pki_certificate'>) =>
  is.exists(revocationsOf(is).select('pki_revocation.serial'));

interface FoundRow {
  readonly serial: string;
  readonly revoked_at: number | null;
}

const rowsByExpiry = async (
  store: Store,
  { uuid }: MountScope,
  search: Omit<ExpirySearch, 'after'>,
  afterKey: string,
): Promise<readonly FoundRow[]> => {
  const { revoked } = search;
  return store.select<CertificateTables, FoundRow>((tables) => {
    const found = tables
      .selectFrom('pki_certificate')
      .select((is) => [
        'pki_certificate.serial as serial',
        revocationsOf(is).select('pki_revocation.revoked_at').limit(1).as('revoked_at'),
      ])
      .where('mount_uuid', '=', uuid)
      .where('not_after', '>=', search.fromMs)
      .where('not_after', '<=', search.toMs)
      .where((is) => is.or([is('not_after', '>', search.fromMs), is('serial', '>', afterKey)]))
      .orderBy('not_after')
      .orderBy('serial')
      .limit(search.limit);
    if (revoked === undefined) return found;
    return found.where((is) => (revoked ? isRevoked(is) : is.not(isRevoked(is))));
  });
};

/** @throws KeelsonError `request.invalid` when `after` is not a certificate of the mount */
export const searchByExpiry = async (
  store: Store,
  mount: MountScope,
  search: ExpirySearch,
): Promise<readonly FoundCertificate[]> => {
  let { fromMs } = search;
  let afterKey = '';
  if (search.after !== '') {
    const cursorKey = toSerialKey(parseSerialText(search.after));
    const der = await findCertificate(store, mount, cursorKey);
    if (der === undefined)
      throw new KeelsonError('request.invalid', {
        text: `certificate with serial ${search.after} not found.`,
      });
    const cursorMs = parseCertificate(der).notAfterMs;
    if (cursorMs >= fromMs) {
      fromMs = cursorMs;
      afterKey = cursorKey;
    }
  }
  const found: FoundCertificate[] = [];
  for (const row of await rowsByExpiry(store, mount, { ...search, fromMs }, afterKey)) {
    const der = await findCertificate(store, mount, row.serial);
    // Deleted since the search.
    if (der === undefined) continue;
    // PostgreSQL returns 64-bit columns as text.
    const revokedAtMs = row.revoked_at === null ? undefined : Number(row.revoked_at);
    found.push({ certificate: parseCertificate(der), revokedAtMs });
  }
  return found;
};
