/** Lifetimes of tokens and the effect of renewals. In whole seconds unless named otherwise. */
import { KeelsonError } from '@keelson/errors';
import { isExpired, type TokenEntry } from './token-entry.ts';

/** Limits that the mount sets, in seconds. */
export interface TokenTtls {
  readonly defaultTtlSeconds: number;
  readonly maxTtlSeconds: number;
}

export interface LifetimeRequest extends TokenTtls {
  /** 0 means the default. */
  readonly ttlSeconds: number;
  /** 0 means no explicit maximum. */
  readonly explicitMaxTtlSeconds: number;
  readonly periodSeconds: number;
}

export interface Lifetime {
  readonly ttlSeconds: number;
  readonly warnings: readonly string[];
}

/** The TTL of a new token that expires, capped by the maximums; a cap below the request is a warning. */
export const decideLifetime = (request: LifetimeRequest): Lifetime => {
  const warnings: string[] = [];
  const { explicitMaxTtlSeconds, periodSeconds, maxTtlSeconds } = request;
  const cap = (ttl: number, limit: number, name: string): number => {
    if (limit === 0 || ttl <= limit) return ttl;
    if (request.ttlSeconds > limit) {
      warnings.push(
        `TTL of "${request.ttlSeconds}s" exceeded the ${name} of "${limit}s"; TTL value is capped accordingly`,
      );
    }
    return limit;
  };
  const asked = periodSeconds > 0 ? periodSeconds : request.ttlSeconds || request.defaultTtlSeconds;
  const bySystem = periodSeconds > 0 ? asked : cap(asked, maxTtlSeconds, 'effective max_ttl');
  return { ttlSeconds: cap(bySystem, explicitMaxTtlSeconds, 'explicit max_ttl'), warnings };
};

/**
 * The expiry of a renewed token. A periodic token starts its period again; any other gets `increment` more
 * from now, but never lives longer than its maximum since its creation.
 * @throws KeelsonError `request.invalid` when the token cannot be renewed
 */
export const decideRenewal = (
  token: TokenEntry,
  incrementSeconds: number,
  maxTtlSeconds: number,
  nowMs: number,
): { readonly expiresAtMs: number; readonly ttlSeconds: number } => {
  const refuse = (text: string): never => {
    throw new KeelsonError('request.invalid', { text });
  };
  if (token.type === 'batch') refuse('batch tokens cannot be renewed');
  if (!token.renewable || token.expiresAtMs === undefined) refuse('lease is not renewable');
  if (isExpired(token, nowMs)) refuse('lease expired');
  const limits = [token.explicitMaxTtlSeconds, token.periodSeconds > 0 ? 0 : maxTtlSeconds];
  const latestMs = Math.min(
    ...limits.filter((limit) => limit > 0).map((limit) => token.createdAtMs + limit * 1000),
  );
  const asked =
    token.periodSeconds > 0
      ? token.periodSeconds
      : incrementSeconds > 0
        ? incrementSeconds
        : token.creationTtlSeconds;
  const expiresAtMs = Math.min(nowMs + asked * 1000, latestMs);
  return { expiresAtMs, ttlSeconds: Math.max(0, Math.ceil((expiresAtMs - nowMs) / 1000)) };
};
