/** Renews what was granted for a time, for as long as it is needed. */
import { setTimeout as pause } from 'node:timers/promises';
import { reasonOf } from '../failure-reason.ts';

/** Time, of which a test has its own. */
export interface Timing {
  nowMs(): number;
  /** Resolves after the delay. @throws when the signal aborts */
  pause(delayMs: number, signal: AbortSignal): Promise<unknown>;
}

export const SYSTEM_TIMING: Timing = {
  nowMs: () => performance.now(),
  pause: (delayMs, signal) => pause(delayMs, undefined, { signal }),
};

const MIN_RENEWAL_MS = 1000;
const MAX_RENEWAL_MS = 60 * 60_000;
const MAX_REPETITION_MS = 30_000;

export interface Lease {
  readonly grantedAtMs: number;
  readonly lengthMs: number;
}

/**
 * Renews a lease when half of it is over, and the new one in the same way. A renewal that fails is repeated until the
 * lease is over.
 * @param renew returns the length of the new lease
 * @returns why the lease ends; undefined once the signal aborts
 */
export const keepRenewed = async (
  lease: Lease,
  renew: () => Promise<number>,
  timing: Timing,
  signal: AbortSignal,
): Promise<string | undefined> => {
  let { grantedAtMs, lengthMs } = lease;
  const untilRenewal = () => Math.min(Math.max(lengthMs / 2, MIN_RENEWAL_MS), MAX_RENEWAL_MS);
  let delayMs = untilRenewal();
  for (;;) {
    await timing.pause(delayMs, signal).catch(() => undefined);
    if (signal.aborted) return undefined;
    const askedAtMs = timing.nowMs();
    try {
      lengthMs = await renew();
      grantedAtMs = askedAtMs;
      delayMs = untilRenewal();
    } catch (error) {
      if (signal.aborted) return undefined;
      delayMs = Math.min(lengthMs / 10, MAX_REPETITION_MS);
      if (timing.nowMs() + delayMs >= grantedAtMs + lengthMs) return reasonOf(error);
    }
  }
};
