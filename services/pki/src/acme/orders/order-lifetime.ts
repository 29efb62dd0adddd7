/** Validity of the certificate of an order (RFC 8555 §7.4, reference §7.11). */

import type { IssuerInUse } from '../../issuers/domain/authority.ts';
import { type IssuingParts, lifetimeUnder } from '../../issuing/signing-operations.ts';
import type { Role } from '../../roles/domain/role.ts';
import { formatTime, privilegedBehavior } from '../../validity/domain/lifetime.ts';
import type { AcmeConfig } from '../config/domain/acme-config.ts';
import { type DirectoryMount } from '../directories/domain/directory-mount.ts';
import { malformed } from '../problems/problem.ts';

export interface LifetimeRequest {
  readonly mount: DirectoryMount;
  readonly config: AcmeConfig;
  readonly role: Role;
  readonly issuer: IssuerInUse;
  /** Requested by the order; undefined if the role decides. */
  readonly notBeforeMs: number | undefined;
  readonly notAfterMs: number | undefined;
  /** When the order was created: a validity that was allowed then remains allowed. */
  readonly orderedAtMs: number;
}

/** The longest lifetime that mount and ACME allow. */
export const longestTtlSeconds = ({
  mount,
  config,
}: Pick<LifetimeRequest, 'mount' | 'config'>): number =>
  Math.min(mount.maxLeaseTtlSeconds, config.maxTtlSeconds);

/** How far before its order a validity may begin, because the clocks of clients differ. */
const MAX_BACKDATING_SECONDS = 300;

const wholeSecond = (ms: number): number => Math.floor(ms / 1000) * 1000;

/** The rules of the role for the times of an order; the limits of ACME apply as well. */
const checkBounds = ({ role, notBeforeMs, notAfterMs }: LifetimeRequest): void => {
  if (notBeforeMs !== undefined && role.notBeforeBound === 'forbid')
    throw malformed('the role does not allow an order to request "notBefore"');
  if (notAfterMs === undefined) return;
  if (role.notAfterBound === 'forbid')
    throw malformed('the role does not allow an order to request "notAfter"');
  // NaN for the other rules, which ACME's own limits are within.
  if (notAfterMs > Date.parse(role.notAfterBound))
    throw malformed(`"notAfter" lies after ${role.notAfterBound}, the latest that the role allows`);
};

/**
 * The role's lifetime, limited by the maxima of the mount and of ACME and by the issuer's expiry;
 * or the lifetime requested by the order, within the same limits. @throws AcmeProblem `malformed`
 * if an order requests more
 */
export const decideOrderLifetime = (
  parts: IssuingParts,
  request: LifetimeRequest,
): { readonly notBeforeMs: number; readonly notAfterMs: number } => {
  const { mount, role, issuer } = request;
  checkBounds(request);
  const longestSeconds = longestTtlSeconds(request);
  const behavior = privilegedBehavior(issuer.issuer.leafNotAfterBehavior, { isEnforced: false });
  const issuerEndMs = issuer.certificate.notAfterMs;
  if (behavior !== 'permit' && issuerEndMs <= parts.clock.nowMs())
    throw malformed(`nothing can be issued: the issuer expired at ${formatTime(issuerEndMs)}`);
  const usual = lifetimeUnder(
    parts,
    {
      mount: { ...mount, maxLeaseTtlSeconds: longestSeconds },
      ttlSeconds: 0,
      notAfterMs: undefined,
      overlong: 'cap',
      absoluteTimes: 'bounded',
    },
    role,
    issuer,
    behavior,
  );
  const nowMs = wholeSecond(parts.clock.nowMs());
  const notBeforeMs =
    request.notBeforeMs === undefined ? usual.notBeforeMs : wholeSecond(request.notBeforeMs);
  const backdatingSeconds =
    role.notBeforeBound === 'duration'
      ? role.notBeforeDurationSeconds
      : Math.max(MAX_BACKDATING_SECONDS, role.notBeforeDurationSeconds);
  if (notBeforeMs < wholeSecond(request.orderedAtMs) - backdatingSeconds * 1000)
    throw malformed(`"notBefore" lies more than ${backdatingSeconds} s in the past`);
  const laterMs = Math.max(0, notBeforeMs - nowMs);
  const roleMaxSeconds = role.maxTtlSeconds > 0 ? role.maxTtlSeconds : longestSeconds;
  const lastMs = Math.min(
    nowMs + laterMs + Math.min(roleMaxSeconds, longestSeconds) * 1000,
    behavior === 'permit' ? Number.POSITIVE_INFINITY : issuer.certificate.notAfterMs,
  );
  const notAfterMs =
    request.notAfterMs === undefined
      ? Math.min(usual.notAfterMs + (role.notAfter === '' ? laterMs : 0), lastMs)
      : wholeSecond(request.notAfterMs);
  if (notAfterMs > lastMs)
    throw malformed(`"notAfter" lies after ${new Date(lastMs).toISOString()}, the latest possible`);
  if (notAfterMs <= Math.max(notBeforeMs, nowMs))
    throw malformed('the requested validity ends before it begins');
  return { notBeforeMs, notAfterMs };
};
