/** Certificates as returned by `certs/detailed` and `cert/:serial`. */

export interface CertificateSummary {
  readonly common_name: string;
  readonly issuer: string;
  readonly key_type: string;
  readonly key_bits: number;
  readonly not_before: string;
  readonly not_after: string;
  readonly dns_names: readonly string[];
}

export interface ListedCertificate extends CertificateSummary {
  readonly serial: string;
}

/** Certificates whose names or serial number contain `text`, ignoring case and separators. */
export const matching = (
  certificates: readonly ListedCertificate[],
  text: string,
): readonly ListedCertificate[] => {
  const wanted = text.trim().toLowerCase();
  const digits = wanted.replaceAll(/[:-]/g, '');
  return certificates.filter(
    ({ common_name: name, dns_names: names, serial }) =>
      [name, ...names].some((one) => one.toLowerCase().includes(wanted)) ||
      (digits !== '' && serial.replaceAll(':', '').includes(digits)),
  );
};

export interface ExpiryBucket {
  /** Beginning of the span, epoch milliseconds. */
  readonly fromMs: number;
  readonly count: number;
}

/**
 * Counts the certificates that expire in each of `count` equal spans from now on; later ones are
 * not counted.
 */
export const expiryBuckets = (
  certificates: readonly CertificateSummary[],
  { nowMs, spanMs, count }: { nowMs: number; spanMs: number; count: number },
): readonly ExpiryBucket[] => {
  const counts = Array.from({ length: count }, () => 0);
  for (const { not_after: notAfter } of certificates) {
    const at = Math.floor((Date.parse(notAfter) - nowMs) / spanMs);
    if (at >= 0 && at < count) counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts.map((found, at) => ({ fromMs: nowMs + at * spanMs, count: found }));
};
