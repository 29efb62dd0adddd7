/** Validity periods of certificates (reference §4.5). */
import { KeelsonError } from '@keelson/errors';

/** Ways to treat a certificate that would outlive its issuer. */
export const LEAF_NOT_AFTER_BEHAVIORS = [
  'err',
  'truncate',
  'permit',
  'always_enforce_err',
] as const;
export type LeafNotAfterBehavior = (typeof LEAF_NOT_AFTER_BEHAVIORS)[number];

/** The requested lifetime, the time of the request, and the limits of the mount. */
export interface RequestedLifetime {
  readonly nowMs: number;
  /** 0: not requested. */
  readonly ttlSeconds: number;
  /** Absolute end; undefined: not requested. */
  readonly notAfterMs: number | undefined;
  readonly mountDefaultTtlSeconds: number;
  readonly mountMaxTtlSeconds: number;
  /** How a requested lifetime over the maximum is treated. */
  readonly overlong: 'refuse' | 'cap';
}

export interface LifetimeRequest extends RequestedLifetime {
  readonly notBeforeDurationSeconds: number;
  /** TTL of the role; 0 when it has none. */
  readonly roleTtlSeconds: number;
  readonly roleMaxTtlSeconds: number;
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

const decideTtl = (request: LifetimeRequest): { seconds: number; warnings: readonly string[] } => {
  const { roleMaxTtlSeconds: roleMax, mountMaxTtlSeconds: mountMax } = request;
  const max = roleMax > 0 ? Math.min(roleMax, mountMax) : mountMax;
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

/**
 * The requested validity, within the maximum of role and mount; an absolute end is bound by neither.
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
  const notBeforeMs = nowMs - request.notBeforeDurationSeconds * 1000;
  if (absolute !== undefined) {
    const notAfterMs = wholeSecond(absolute);
    if (notAfterMs <= notBeforeMs)
      refuse(
        `not_after (${formatTime(notAfterMs)}) lies before the start of validity (${formatTime(notBeforeMs)})`,
      );
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
  /** 0: the mount's default. */
  readonly ttlSeconds: number;
  /** 0: the mount's maximum. */
  readonly maxTtlSeconds: number;
  readonly notBeforeDurationSeconds: number;
  /** RFC 3339, or "" when lifetimes decide. */
  readonly notAfter: string;
}

export const NO_RULES: LifetimeRules = {
  ttlSeconds: 0,
  maxTtlSeconds: 0,
  notBeforeDurationSeconds: 30,
  notAfter: '',
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
  const lifetime = decideLifetime({
    ...asked,
    // The role's own end takes precedence over everything in a request.
    ttlSeconds: roleEndMs === undefined ? asked.ttlSeconds : 0,
    notAfterMs: roleEndMs ?? asked.notAfterMs,
    notBeforeDurationSeconds: rules.notBeforeDurationSeconds,
    roleTtlSeconds: rules.ttlSeconds,
    roleMaxTtlSeconds: rules.maxTtlSeconds,
  });
  const notAfterMs = boundByIssuer(lifetime.notAfterMs, issuer.notAfterMs, behavior);
  checkValidity({ notBeforeMs: lifetime.notBeforeMs, notAfterMs });
  return { ...lifetime, notAfterMs, isTruncated: notAfterMs < lifetime.notAfterMs };
};
