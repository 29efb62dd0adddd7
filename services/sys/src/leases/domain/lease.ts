/** A lease: a secret that sys has its engine revoke when its lifetime, its token or its mount ends. */
import { KeelsonError } from '@keelson/errors';

export interface LeaseRecord {
  /** "<mount path><request path>/<random>", followed by ".<namespace id>" outside the root namespace. */
  readonly id: string;
  /** Namespace of the mount. */
  readonly namespaceId: string;
  readonly mountUuid: string;
  readonly mountType: string;
  readonly token: { readonly namespaceId: string; readonly hash: string };
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
  /** Renewals never extend beyond this. */
  readonly latestExpiryMs: number;
  /** undefined: never renewed. */
  readonly lastRenewalMs: number | undefined;
  readonly renewable: boolean;
  readonly engineDataBase64: string;
  /** Failed attempts to revoke it. */
  readonly failures: number;
  /** When the worker handles it; undefined once it is irrevocable. */
  readonly dueAtMs: number | undefined;
  /** Reason of the last failure; set when the lease is irrevocable. */
  readonly irrevocable: string | undefined;
}

const MAX_FAILURES = 6;
const FIRST_RETRY_MS = 10_000;

export const ttlSeconds = (lease: LeaseRecord, nowMs: number): number =>
  Math.max(0, Math.ceil((lease.expiresAtMs - nowMs) / 1000));

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/**
 * Extends a lease by `incrementSeconds` from now; 0 means the increment it was issued with.
 * @throws KeelsonError `request.invalid`
 */
export const renewedLease = (
  lease: LeaseRecord,
  incrementSeconds: number,
  nowMs: number,
): LeaseRecord => {
  if (lease.expiresAtMs <= nowMs) refuse('lease expired');
  if (!lease.renewable) refuse('lease is not renewable');
  const wantedMs =
    incrementSeconds > 0
      ? incrementSeconds * 1000
      : lease.expiresAtMs - (lease.lastRenewalMs ?? lease.issuedAtMs);
  const expiresAtMs = Math.min(nowMs + wantedMs, lease.latestExpiryMs);
  return { ...lease, expiresAtMs, dueAtMs: expiresAtMs, lastRenewalMs: nowMs };
};

/** The lease, due at once, so that the worker revokes it. */
export const endedLease = (lease: LeaseRecord, nowMs: number): LeaseRecord => ({
  ...lease,
  expiresAtMs: Math.min(lease.expiresAtMs, nowMs),
  dueAtMs: nowMs,
  failures: 0,
  irrevocable: undefined,
});

/** The lease after a failed attempt: the delay doubles each time, until the lease becomes irrevocable. */
export const afterFailedRevocation = (
  lease: LeaseRecord,
  reason: string,
  nowMs: number,
): LeaseRecord => {
  const failures = lease.failures + 1;
  return failures >= MAX_FAILURES
    ? { ...lease, failures, dueAtMs: undefined, irrevocable: reason }
    : { ...lease, failures, dueAtMs: nowMs + FIRST_RETRY_MS * 2 ** (failures - 1) };
};
