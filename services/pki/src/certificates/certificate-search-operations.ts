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
import type { CertificateTables } from './certificate-projections.ts';
import { findCertificate } from './certificate-records.ts';

export interface ExpirySearch {
  /** Bounds of notAfter, both included. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Serial number of the last certificate of the page before; "" for the first page. */
  readonly after: string;
  readonly limit: number;
}

const serialKeysByExpiry = async (
  store: Store,
  { uuid }: MountScope,
  search: Pick<ExpirySearch, 'fromMs' | 'toMs' | 'limit'>,
  afterKey: string,
): Promise<readonly string[]> => {
  const rows = await store.select<CertificateTables, { serial: string }>((tables) =>
    tables
      .selectFrom('pki_certificate')
      .select('serial')
      .where('mount_uuid', '=', uuid)
      .where('not_after', '>=', search.fromMs)
      .where('not_after', '<=', search.toMs)
      .where((is) => is.or([is('not_after', '>', search.fromMs), is('serial', '>', afterKey)]))
      .orderBy('not_after')
      .orderBy('serial')
      .limit(search.limit),
  );
  return rows.map(({ serial }) => serial);
};

/** @throws KeelsonError `request.invalid` when `after` is not a certificate of the mount */
export const searchByExpiry = async (
  store: Store,
  mount: MountScope,
  search: ExpirySearch,
): Promise<readonly ParsedCertificate[]> => {
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
  const { toMs, limit } = search;
  const found: ParsedCertificate[] = [];
  for (const key of await serialKeysByExpiry(store, mount, { fromMs, toMs, limit }, afterKey)) {
    const der = await findCertificate(store, mount, key);
    // Deleted since the search.
    if (der !== undefined) found.push(parseCertificate(der));
  }
  return found;
};
