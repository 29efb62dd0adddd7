/** Lifetimes of leases: the tuning of a mount over the system's values. All in seconds. */
import { KeelsonError } from '@keelson/errors';

export interface LeaseTtls {
  readonly defaultLeaseTtlSeconds: number;
  readonly maxLeaseTtlSeconds: number;
}

/** The values in force: 0 means the system's; a default over the maximum is cut to it. */
export const effectiveLeaseTtls = (tuned: LeaseTtls, system: LeaseTtls): LeaseTtls => {
  const maxLeaseTtlSeconds = tuned.maxLeaseTtlSeconds || system.maxLeaseTtlSeconds;
  const wanted = tuned.defaultLeaseTtlSeconds || system.defaultLeaseTtlSeconds;
  return { maxLeaseTtlSeconds, defaultLeaseTtlSeconds: Math.min(wanted, maxLeaseTtlSeconds) };
};

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** Rules for enabling. A maximum above the system's is allowed: long-lived roots need it. */
export const requireMountableTtls = (given: LeaseTtls, system: LeaseTtls): void => {
  const { defaultLeaseTtlSeconds, maxLeaseTtlSeconds } = given;
  if (maxLeaseTtlSeconds > 0 && defaultLeaseTtlSeconds > maxLeaseTtlSeconds)
    refuse('given default lease TTL greater than given max lease TTL');
  if (maxLeaseTtlSeconds === 0 && defaultLeaseTtlSeconds > system.maxLeaseTtlSeconds)
    refuse(
      `given default lease TTL greater than system max lease TTL of ${system.maxLeaseTtlSeconds}`,
    );
};

/** Rules for tuning: what was not given keeps its value. */
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
