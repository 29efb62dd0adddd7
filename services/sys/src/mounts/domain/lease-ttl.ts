/** Lease lifetimes: the tuning of a mount combined with the system's values. All in seconds. */
import { KeelsonError } from '@keelson/errors';

export interface LeaseTtls {
  readonly defaultLeaseTtlSeconds: number;
  readonly maxLeaseTtlSeconds: number;
}

/** The effective values: 0 means the system's value, and a default above the maximum is capped. */
export const effectiveLeaseTtls = (tuned: LeaseTtls, system: LeaseTtls): LeaseTtls => {
  const maxLeaseTtlSeconds = tuned.maxLeaseTtlSeconds || system.maxLeaseTtlSeconds;
  const wanted = tuned.defaultLeaseTtlSeconds || system.defaultLeaseTtlSeconds;
  return { maxLeaseTtlSeconds, defaultLeaseTtlSeconds: Math.min(wanted, maxLeaseTtlSeconds) };
};

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** Checks the TTLs of a new mount. A maximum above the system's is allowed: long-lived root CAs need it. */
export const requireMountableTtls = (given: LeaseTtls, system: LeaseTtls): void => {
  const { defaultLeaseTtlSeconds, maxLeaseTtlSeconds } = given;
  if (maxLeaseTtlSeconds > 0 && defaultLeaseTtlSeconds > maxLeaseTtlSeconds)
    refuse('given default lease TTL greater than given max lease TTL');
  if (maxLeaseTtlSeconds === 0 && defaultLeaseTtlSeconds > system.maxLeaseTtlSeconds)
    refuse(
      `given default lease TTL greater than system max lease TTL of ${system.maxLeaseTtlSeconds}`,
    );
};

/** Checks a change of TTLs; values that are not given remain unchanged. */
export const requireTunableTtls = (
  current: LeaseTtls,
  given: { readonly [K in keyof LeaseTtls]: number | undefined },
  system: LeaseTtls,
): LeaseTtls => {
  const tuned = {
    defaultLeaseTtlSeconds: given.defaultLeaseTtlSeconds ?? current.defaultLeaseTtlSeconds,
    maxLeaseTtlSeconds: given.maxLeaseTtlSeconds ?? current.maxLeaseTtlSeconds,
  };
  const max = tuned.maxLeaseTtlSeconds || system.maxLeaseTtlSeconds;
  if (tuned.defaultLeaseTtlSeconds > max) {
    if (given.maxLeaseTtlSeconds === undefined)
      refuse(
        `backend max lease TTL of ${max} would be less than backend default lease TTL of ${tuned.defaultLeaseTtlSeconds}`,
      );
    requireMountableTtls(tuned, system);
  }
  return tuned;
};
