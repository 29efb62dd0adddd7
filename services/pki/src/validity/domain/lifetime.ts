/** Validity periods of certificates (reference §4.5). */

import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** Ways to treat a certificate that would outlive its issuer. */
export const LEAF_NOT_AFTER_BEHAVIORS = [
  'err',
  'truncate',
  'permit',
  'always_enforce_err',
] as const;
export const leafNotAfterBehaviorShape = Type.Enum(LEAF_NOT_AFTER_BEHAVIORS);
export type LeafNotAfterBehavior = Shaped<typeof leafNotAfterBehaviorShape>;

/** Rules of a role for an absolute end in a request; a time is the latest end that it accepts. */
export const NOT_AFTER_BOUNDS = ['permit', 'ttl-limited', 'forbid'] as const;
/** Rules of a role for an absolute start in a request. */
export const NOT_BEFORE_BOUNDS = ['permit', 'duration', 'forbid'] as const;

/** How a request is treated that exceeds what role and mount allow. */
export interface LifetimeManners {
  /** A requested lifetime over the maximum. */
  readonly overlong: 'refuse' | 'cap';
  /** Absolute times where the role has no rule for them: within what lifetimes may be, or not. */
  readonly absoluteTimes: 'bounded' | 'free';
}

/** The requested lifetime, the time of the request, and the limits of the mount. */
export interface RequestedLifetime extends LifetimeManners {
  readonly nowMs: number;
  /** 0 if not requested. */
  readonly ttlSeconds: number;
  /** Absolute start; undefined if the request has no `not_before`. */
  readonly notBeforeMs?: number | undefined;
  /** Absolute end; undefined if not requested. */
  readonly notAfterMs: number | undefined;
  readonly mountDefaultTtlSeconds: number;
  readonly mountMaxTtlSeconds: number;
}

export interface LifetimeRequest extends RequestedLifetime {
  readonly notBeforeDurationSeconds: number;
  /** TTL of the role; 0 when it has none. */
  readonly roleTtlSeconds: number;
  readonly roleMaxTtlSeconds: number;
  /** One of `NOT_BEFORE_BOUNDS`; "" where there is no rule. */
  readonly notBeforeBound: string;
  /** One of `NOT_AFTER_BOUNDS` or an RFC 3339 time; "" where there is no rule. */
  readonly notAfterBound: string;
}

export interface Lifetime {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly warnings: readonly string[];
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const wholeSecond = (ms: number): number => Math.floor(ms / 1000) * 1000;

/** RFC 3339 to the second. */
export const formatTime = (epochMs: number): string =>
  new Date(epochMs).toISOString().replace(/\.\d+Z$/, 'Z');

/** Last moment that ASN.1 time can name. */
const MAX_TIME_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

/** A duration in units and in seconds. */
const inUnits = (seconds: number): string => {
  const units = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const;
  return `${units.map(([count, unit]) => (count === 0 ? '' : `${count}${unit}`)).join('')} (${seconds}s)`;
};

const maxTtlOf = ({
  roleMaxTtlSeconds: roleMax,
  mountMaxTtlSeconds: mountMax,
}: Pick<LifetimeRequest, 'roleMaxTtlSeconds' | 'mountMaxTtlSeconds'>): number =>
  roleMax > 0 ? Math.min(roleMax, mountMax) : mountMax;

const decideTtl = (request: LifetimeRequest): { seconds: number; warnings: readonly string[] } => {
  const max = maxTtlOf(request);
  const wanted = request.ttlSeconds || request.roleTtlSeconds || request.mountDefaultTtlSeconds;
  if (wanted <= max) return { seconds: wanted, warnings: [] };
  if (request.ttlSeconds > 0 && request.overlong === 'refuse')
    refuse(`requested ttl ${inUnits(wanted)} is greater than the maximum ttl ${inUnits(max)}`);
  return {
    seconds: max,
    warnings:
      request.ttlSeconds === 0 && request.roleTtlSeconds === 0
        ? []
        : [`TTL "${wanted}s" is longer than permitted maxTTL "${max}s", so maxTTL is being used`],
  };
};

/** The rule for an absolute start: the role's, else that of the dialect. */
const decideStart = (request: LifetimeRequest, nowMs: number): number => {
  const { notBeforeMs: asked, notBeforeBound, notBeforeDurationSeconds } = request;
  const usualMs = nowMs - notBeforeDurationSeconds * 1000;
  if (asked === undefined) return usualMs;
  const startMs = wholeSecond(asked);
  const bound = notBeforeBound || (request.absoluteTimes === 'bounded' ? 'duration' : 'permit');
  if (bound === 'forbid')
    refuse('not_before is not accepted: the role has a not_before_bound of "forbid"');
  if (bound === 'duration' && startMs < usualMs)
    refuse(
      `requested not_before ${formatTime(startMs)} is earlier than ${formatTime(usualMs)}, which a not_before_duration of ${inUnits(notBeforeDurationSeconds)} allows`,
    );
  return startMs;
};

/** The rule for an absolute end: the role's, else that of the dialect. */
const checkEnd = (request: LifetimeRequest, nowMs: number, endMs: number): void => {
  const bound =
    request.notAfterBound || (request.absoluteTimes === 'bounded' ? 'ttl-limited' : 'permit');
  if (bound === 'permit') return;
  if (bound === 'forbid')
    refuse('not_after is not accepted: the role has a not_after_bound of "forbid"');
  const max = maxTtlOf(request);
  const isLimitedByTtl = bound === 'ttl-limited';
  const lastMs = isLimitedByTtl ? nowMs + max * 1000 : Date.parse(bound);
  if (endMs > lastMs)
    refuse(
      `requested not_after ${formatTime(endMs)} is later than ${formatTime(lastMs)}, which ${isLimitedByTtl ? `the maximum ttl ${inUnits(max)}` : 'the not_after_bound of the role'} allows`,
    );
};

/**
 * The requested validity, within what role and mount allow.
 * @throws KeelsonError `request.invalid`
 */
export const decideLifetime = (request: LifetimeRequest): Lifetime => {
  const { ttlSeconds, notAfterMs: absolute } = request;
  if (ttlSeconds > 0 && absolute !== undefined)
    refuse(
      'Either ttl or not_after should be provided. Both should not be provided in the same request.',
    );
  if (ttlSeconds < 0) refuse('ttl must not be negative');
  const nowMs = wholeSecond(request.nowMs);
  const notBeforeMs = decideStart(request, nowMs);
  if (absolute !== undefined) {
    const notAfterMs = wholeSecond(absolute);
    if (notAfterMs <= notBeforeMs)
      refuse(
        `not_after (${formatTime(notAfterMs)}) lies before the start of validity (${formatTime(notBeforeMs)})`,
      );
    checkEnd(request, nowMs, notAfterMs);
    return { notBeforeMs, notAfterMs: Math.min(notAfterMs, MAX_TIME_MS), warnings: [] };
  }
  const { seconds, warnings } = decideTtl(request);
  return { notBeforeMs, notAfterMs: Math.min(nowMs + seconds * 1000, MAX_TIME_MS), warnings };
};

/**
 * The end of validity after the issuer's rule for what would outlive it.
 * @throws KeelsonError `request.invalid`
 */
export const boundByIssuer = (
  notAfterMs: number,
  issuerNotAfterMs: number,
  behavior: LeafNotAfterBehavior,
): number => {
  if (notAfterMs <= issuerNotAfterMs) return notAfterMs;
  switch (behavior) {
    case 'permit':
      return notAfterMs;
    case 'truncate':
      return issuerNotAfterMs;
    case 'err':
    case 'always_enforce_err':
      return refuse(
        `cannot satisfy request, as TTL would result in notAfter of ${formatTime(notAfterMs)} that is beyond the expiration of the CA certificate at ${formatTime(issuerNotAfterMs)}`,
      );
  }
};

/**
 * The start may be before the issuer's: it was requested, and no client accepts the certificate before its
 * issuer is valid (RFC 5280 §6.1.3 (a)(2) applies to each certificate separately).
 * @throws KeelsonError `request.invalid` when no validity remains
 */
export const checkValidity = ({
  notBeforeMs,
  notAfterMs,
}: Pick<Lifetime, 'notBeforeMs' | 'notAfterMs'>): void => {
  if (notBeforeMs > notAfterMs)
    refuse(
      `cannot satisfy request: the certificate would end (${formatTime(notAfterMs)}) before it begins (${formatTime(notBeforeMs)})`,
    );
};

/**
 * The rule for certificates that would outlive the issuer when a trusted operator signs: the end is cut
 * instead of refused, unless the request or the issuer requires a refusal.
 */
export const privilegedBehavior = (
  configured: LeafNotAfterBehavior,
  { isEnforced, mayOutlive = false }: { isEnforced: boolean; mayOutlive?: boolean },
): LeafNotAfterBehavior => {
  if (isEnforced || configured === 'always_enforce_err') return configured;
  return configured === 'permit' && mayOutlive ? 'permit' : 'truncate';
};

/** The values of a role that lifetimes depend on. */
export interface LifetimeRules {
  /** 0 means the mount's default. */
  readonly ttlSeconds: number;
  /** 0 means the mount's maximum. */
  readonly maxTtlSeconds: number;
  readonly notBeforeDurationSeconds: number;
  /** RFC 3339, or "" when lifetimes decide. */
  readonly notAfter: string;
  readonly notBeforeBound: string;
  readonly notAfterBound: string;
}

export const NO_RULES: LifetimeRules = {
  ttlSeconds: 0,
  maxTtlSeconds: 0,
  notBeforeDurationSeconds: 30,
  notAfter: '',
  notBeforeBound: '',
  notAfterBound: '',
};

/** The end that the role gives every certificate; a request may ask for less, and not for more. */
const withinEndOfRole = (
  { ttlSeconds, notAfterMs: asked, overlong }: RequestedLifetime,
  lifetime: Lifetime,
  roleEndMs: number,
): Lifetime => {
  if (ttlSeconds === 0 && asked === undefined) return { ...lifetime, notAfterMs: roleEndMs };
  if (lifetime.notAfterMs <= roleEndMs) return lifetime;
  const text = `requested end ${formatTime(lifetime.notAfterMs)} is later than the not_after ${formatTime(roleEndMs)} of the role`;
  if (overlong === 'refuse') refuse(text);
  return {
    ...lifetime,
    notAfterMs: roleEndMs,
    warnings: [...lifetime.warnings, `${text}, which is being used`],
  };
};

/**
 * The validity of a certificate under a role and an issuer, truncated if the behavior requires it.
 * @throws KeelsonError `request.invalid`
 */
export const lifetimeUnderRules = (
  asked: RequestedLifetime,
  rules: LifetimeRules,
  issuer: Pick<Lifetime, 'notAfterMs'>,
  behavior: LeafNotAfterBehavior,
): Lifetime & { readonly isTruncated: boolean } => {
  const roleEndMs = rules.notAfter === '' ? undefined : Date.parse(rules.notAfter);
  if (Number.isNaN(roleEndMs)) refuse("the role's not_after is not a time");
  const decided = decideLifetime({
    ...asked,
    notBeforeDurationSeconds: rules.notBeforeDurationSeconds,
    roleTtlSeconds: rules.ttlSeconds,
    roleMaxTtlSeconds: rules.maxTtlSeconds,
    notBeforeBound: rules.notBeforeBound,
    notAfterBound: rules.notAfterBound,
  });
  const lifetime =
    roleEndMs === undefined
      ? decided
      : withinEndOfRole(asked, decided, Math.min(wholeSecond(roleEndMs), MAX_TIME_MS));
  const notAfterMs = boundByIssuer(lifetime.notAfterMs, issuer.notAfterMs, behavior);
  checkValidity({ notBeforeMs: lifetime.notBeforeMs, notAfterMs });
  const hasExpired = issuer.notAfterMs < asked.nowMs;
  return {
    ...lifetime,
    notAfterMs,
    isTruncated: notAfterMs < lifetime.notAfterMs,
    warnings: hasExpired
      ? [...lifetime.warnings, `the issuer expired at ${formatTime(issuer.notAfterMs)}`]
      : lifetime.warnings,
  };
};
