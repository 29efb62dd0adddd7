/** Starts automatic runs of tidying that are due. */

import { type Clock, pause } from '@keelson/clock';
import { type MountScope } from '@keelson/engine';
import type { Logger } from '@keelson/logging';
import type { Store } from '@keelson/storage';
import { findAutoTidy, isTidyDue } from '../tidy/auto-tidy-operations.ts';
import type { TidyRunner } from '../tidy/tidy-runner.ts';

const TICK_MS = 60_000;

export interface AutoTidy {
  readonly store: Store;
  readonly tidy: TidyRunner;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Mounts as of now; none while sealed. */
  readonly mounts: () => readonly MountScope[];
}

/** Runs until `signal` aborts. A run is elected by its own lease, so every replica may ask for it. */
export const runAutoTidy = async (parts: AutoTidy, signal: AbortSignal): Promise<void> => {
  const { store, tidy, clock, logger } = parts;
  const serviceStartedAtMs = clock.nowMs();
  const backoff = Math.random();
  while (!signal.aborted) {
    for (const mount of parts.mounts())
      try {
        const settings = await findAutoTidy(store, mount);
        const times = { nowMs: clock.nowMs(), serviceStartedAtMs, backoff };
        if (isTidyDue(settings, await tidy.status(mount), times))
          await tidy.start(mount, settings.tidy, 'automatic');
      } catch (error) {
        logger.error({ err: error, mount: mount.uuid }, 'tidying was not started');
      }
    await pause(clock, TICK_MS, signal);
  }
};
