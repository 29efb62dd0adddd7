/**
 * Background work under supervision: it is started again after a failure, later each time, and stops
 * when its signal is aborted. One failing worker never takes the process with it.
 */
import { type Clock, pause, systemClock } from '@keelson/clock';
import type { Logger } from '@keelson/logging';

export interface WorkerOptions {
  readonly logger: Logger;
  readonly clock?: Clock;
  /** Wait after the first failure; doubles up to `maxDelayMs`. */
  readonly firstDelayMs?: number;
  readonly maxDelayMs?: number;
}

export interface Worker {
  /** Aborts the work and waits for its end. */
  stop(): Promise<void>;
}

/** A run that lasted this long was healthy: the next failure waits the first delay again. */
const HEALTHY_AFTER_MS = 60_000;

/**
 * Runs `run` until it returns or is stopped; when it throws, runs it again after a pause.
 * @param run gets a signal that is aborted on stop and returns soon after
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
    while (!signal.aborted) {
      const startedMs = clock.nowMs();
      try {
        await run(signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (clock.nowMs() - startedMs >= HEALTHY_AFTER_MS) delayMs = firstDelayMs;
        logger.warn({ worker: name, err: error, retryInMs: delayMs }, 'worker failed');
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
