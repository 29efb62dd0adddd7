/** Filters of the certificate list, as kept in the address bar. */

export const EXPIRIES = ['valid', 'week', 'month', 'revoked', 'expired', 'all'] as const;

export type Expiry = (typeof EXPIRIES)[number];

export interface CertificateSearch {
  /** Part of a name or a serial number. */
  readonly text?: string;
  readonly expiry?: Expiry;
}

export const parseCertificateSearch = (
  search: Readonly<Record<string, unknown>>,
): CertificateSearch => {
  const { text } = search;
  const expiry = EXPIRIES.find((one) => one === search['expiry']);
  return {
    ...((typeof text === 'string' || typeof text === 'number') &&
      text !== '' && { text: String(text) }),
    ...(expiry !== undefined && expiry !== 'valid' && { expiry }),
  };
};

const DAY_MS = 86_400_000;

/** The expiry filter as query parameters of the API. */
export const expiryQuery = (expiry: Expiry, nowMs: number): string => {
  const at = (ms: number): string => encodeURIComponent(new Date(ms).toISOString());
  switch (expiry) {
    case 'valid':
      return `expires_after=${at(nowMs)}&revoked=false`;
    case 'week':
      return `expires_after=${at(nowMs)}&expires_before=${at(nowMs + 7 * DAY_MS)}&revoked=false`;
    case 'month':
      return `expires_after=${at(nowMs)}&expires_before=${at(nowMs + 30 * DAY_MS)}&revoked=false`;
    case 'revoked':
      return 'revoked=true';
    case 'expired':
      return `expires_before=${at(nowMs)}`;
    case 'all':
      return '';
  }
};
