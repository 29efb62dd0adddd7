/** The suggested time window for renewing a certificate (RFC 9773 §4.2). */

export interface RenewalWindow {
  readonly startMs: number;
  readonly endMs: number;
  /** RFC 9773 §4.3.2: delay before the client should ask again. */
  readonly retryAfterSeconds: number;
}

const MAX_RETRY_SECONDS = 6 * 3600;
const MIN_RETRY_SECONDS = 60;

/**
 * The first half of the last third of the validity, so that enough time is left if a renewal fails.
 * For a revoked certificate, or one below revoked issuers alone, the window is now.
 *
 * @param revokedAtMs undefined for a certificate that is not revoked
 */
export const renewalWindow = (
  { notBeforeMs, notAfterMs }: { readonly notBeforeMs: number; readonly notAfterMs: number },
  revokedAtMs: number | undefined,
  nowMs: number,
): RenewalWindow => {
  const lifetimeMs = notAfterMs - notBeforeMs;
  const retryAfterSeconds = Math.min(
    MAX_RETRY_SECONDS,
    Math.max(MIN_RETRY_SECONDS, Math.floor(lifetimeMs / 24_000)),
  );
  if (revokedAtMs !== undefined) {
    const endMs = Math.min(revokedAtMs, nowMs);
    return { startMs: endMs - 3_600_000, endMs, retryAfterSeconds };
  }
  const startMs = notAfterMs - Math.floor(lifetimeMs / 3);
  return { startMs, endMs: notAfterMs - Math.floor(lifetimeMs / 6), retryAfterSeconds };
};
