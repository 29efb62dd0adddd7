/** Certificates as returned by `certs/detailed` and `cert/:serial`. */

export interface CertificateSummary {
  readonly common_name: string;
  readonly issuer: string;
  readonly key_type: string;
  readonly key_bits: number;
  readonly not_before: string;
  readonly not_after: string;
  readonly dns_names: readonly string[];
  readonly revoked: boolean;
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

/** The numbers of `certs/summary`. */
export interface CertificateNumbers {
  readonly valid: number;
  readonly expired: number;
  readonly revoked: number;
  readonly expiring_by_week: readonly { readonly from: string; readonly expiring: number }[];
  /** A number as high means so many or more. */
  readonly limit: number;
}
