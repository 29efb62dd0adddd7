import { ERROR_CODES, type KeelsonError } from '@keelson/errors';

/** Long enough for brief failures to pass, and short enough for an early retry after longer ones. */
const RETRY_AFTER_SECONDS = '1';

/** The header of RFC 9110 §15.6.4 with status 503, if the same request may succeed later. */
export const retryHeader = ({ code }: KeelsonError): { readonly 'retry-after'?: string } => {
  const { http, retry } = ERROR_CODES[code];
  return http === 503 && retry ? { 'retry-after': RETRY_AFTER_SECONDS } : {};
};
