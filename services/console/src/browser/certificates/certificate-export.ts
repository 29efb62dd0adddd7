/** The certificates that a list selects, as a file. */
import { listKeys } from '../api/secrets-api.ts';
import { type CertificateSummary, type ListedCertificate, matching } from './certificate.ts';

export const EXPORT_FORMATS = ['csv', 'json'] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number];

const PAGE_SIZE = 1000;
/** Certificates that are looked at, so that the browser can hold them. */
const MAX_LOOKED_AT = 100_000;

const stateOf = ({ revoked, not_after: notAfter }: ListedCertificate, nowMs: number): string => {
  if (revoked) return 'revoked';
  return Date.parse(notAfter) < nowMs ? 'expired' : 'valid';
};

const rowOf = (certificate: ListedCertificate, nowMs: number) => ({
  serial_number: certificate.serial,
  common_name: certificate.common_name,
  dns_names: certificate.dns_names,
  issuer: certificate.issuer,
  key_type: certificate.key_type,
  key_bits: certificate.key_bits,
  not_before: certificate.not_before,
  not_after: certificate.not_after,
  state: stateOf(certificate, nowMs),
});

/** A cell of RFC 4180. A text that a spreadsheet would take as a formula begins with an apostrophe. */
const cell = (value: string | number): string => {
  const text = String(value);
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
};

/** The file's content. */
export const exported = (
  certificates: readonly ListedCertificate[],
  format: ExportFormat,
  nowMs: number,
): Blob => {
  const rows = certificates.map((certificate) => rowOf(certificate, nowMs));
  if (format === 'json')
    return new Blob([`${JSON.stringify(rows, undefined, 2)}\n`], { type: 'application/json' });
  const names = Object.keys(rowOf({} as ListedCertificate, nowMs));
  const lines = rows.map((row) =>
    Object.values(row)
      .map((value) => cell(typeof value === 'object' ? value.join(' ') : value))
      .join(','),
  );
  return new Blob([[names.join(','), ...lines, ''].join('\r\n')], { type: 'text/csv' });
};

/**
 * All certificates that the filter and the text select, of the first hundred thousand.
 * @param filter as a query of the API
 * @returns `isWhole`: whether all were looked at
 */
export const readSelected = async (
  mount: string,
  filter: string,
  text: string,
  namespace: string,
): Promise<{ readonly found: readonly ListedCertificate[]; readonly isWhole: boolean }> => {
  const found: ListedCertificate[] = [];
  let after = '';
  for (let lookedAt = 0; lookedAt < MAX_LOOKED_AT; lookedAt += PAGE_SIZE) {
    const { keys, infos } = await listKeys<CertificateSummary>(
      `${mount}/certs/detailed?${filter}&limit=${PAGE_SIZE}&after=${encodeURIComponent(after)}`,
      { namespace },
    );
    const listed = keys.flatMap((serial) => {
      const info = infos[serial];
      return info === undefined ? [] : [{ serial, ...info }];
    });
    found.push(...matching(listed, text));
    if (keys.length < PAGE_SIZE) return { found, isWhole: true };
    after = keys.at(-1) ?? '';
  }
  return { found, isWhole: false };
};
