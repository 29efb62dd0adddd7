/**
 * Supervised background work: it is restarted after a failure, with increasing delays, and stops when its
 * signal aborts. A failing worker never ends the process. The log has each failure once, not each repetition of
 * it, because one cause such as a full disk makes many workers fail for a long time.
 */
import { type Clock, pause, systemClock } from '@keelson/clock';
import type { Logger } from '@keelson/logging';

export interface WorkerOptions {
  readonly logger: Logger;
  readonly clock?: Clock;
  /** Delay after the first failure; doubles up to `maxDelayMs`. */
  readonly firstDelayMs?: number;
  readonly maxDelayMs?: number;
}

export interface Worker {
  /** Aborts the work and waits for its end. */
  stop(): Promise<void>;
}

/** A run that lasted this long counts as healthy: after it, delays start again from the first. */
const HEALTHY_AFTER_MS = 60_000;

/**
 * Calls `run` until it returns or is stopped; when it throws, calls it again after a delay.
 * @param run gets a signal that aborts on stop, and must return soon after
 */
export const startWorker = (
  name: string,
  run: (signal: AbortSignal) => Promise<void>,
  { logger, clock = systemClock, firstDelayMs = 100, maxDelayMs = 30_000 }: WorkerOptions,
): Worker => {
  const abort = new AbortController();
  const { signal } = abort;

  const supervise = async (): Promise<void> => {
    let delayMs = firstDelayMs;
    let reported: string | undefined;
    while (!signal.aborted) {
      const startedMs = clock.nowMs();
      try {
        await run(signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (clock.nowMs() - startedMs >= HEALTHY_AFTER_MS) {
          delayMs = firstDelayMs;
          reported = undefined;
        }
        const cause = String(error);
        const level = cause === reported ? 'debug' : 'warn';
        logger[level]({ worker: name, err: error, retryInMs: delayMs }, 'worker failed');
        reported = cause;
        await pause(clock, delayMs, signal);
        delayMs = Math.min(delayMs * 2, maxDelayMs);
      }
    }
  };

  const ended = supervise();
  return {
    stop: async () => {
      abort.abort();
      await ended;
    },
  };
};
