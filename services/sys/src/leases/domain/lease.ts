/** A lease: a secret that sys has its engine revoke when its lifetime, its token or its mount ends. */

import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const leaseRecordShape = Type.Object({
  /** "<mount path><request path>/<random>", followed by ".<namespace id>" outside the root namespace. */
  id: Type.String(),
  /** Namespace of the mount. */
  namespaceId: Type.String(),
  mountUuid: Type.String(),
  mountType: Type.String(),
  token: Type.Object({ namespaceId: Type.String(), hash: Type.String() }),
  issuedAtMs: Type.Number(),
  expiresAtMs: Type.Number(),
  /** Renewals never extend beyond this. */
  latestExpiryMs: Type.Number(),
  /** Undefined if it was never renewed. */
  lastRenewalMs: Type.Optional(Type.Number()),
  renewable: Type.Boolean(),
  engineDataBase64: Type.String(),
  /** Failed attempts to revoke it. */
  failures: Type.Number(),
  /** When the worker handles it; undefined once it is irrevocable. */
  dueAtMs: Type.Optional(Type.Number()),
  /** Reason of the last failure; set when the lease is irrevocable. */
  irrevocable: Type.Optional(Type.String()),
});
export type LeaseRecord = Shaped<typeof leaseRecordShape>;

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
