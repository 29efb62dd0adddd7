/** The background work of sys: started, stopped and restarted with the seal. */
import { type PeriodicWork, runPeriodically } from '@keelson/locks';
import { startWorker, type Worker } from '@keelson/runtime';
import { takeFence } from '@keelson/storage';
import type { SysContext } from './compose-context.ts';
import { followRoles } from './replication/follow-roles.ts';
import { openStaticSeal } from './seal/seal-opening.ts';

export interface SysWorkers {
  /** Opens a static seal and runs the periodic work while unsealed. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Finishes a restoration of a snapshot that the end of a process interrupted. */
export const finishRestoration = async ({ snapshots, logger }: SysContext): Promise<void> => {
  if (!(await snapshots.isInterrupted())) return;
  logger.warn('the restoration of a snapshot was interrupted: it is being finished');
  await snapshots.finish();
  logger.info('the restoration of a snapshot was finished');
};

/** Runs the periodic work while sys is unsealed, and follows the roles of the cluster. */
export const createSysWorkers = (
  context: SysContext,
  periodicWork: Readonly<Record<string, PeriodicWork>>,
): SysWorkers => {
  const { parts, logger, store, seal, state } = context;
  const { leases, clock } = parts;
  const supervision = { logger, clock };
  const runWhileUnsealed = (name: string, work: PeriodicWork): Worker =>
    startWorker(
      name,
      (signal) =>
        runPeriodically(
          {
            name: `sys/${name}`,
            leases,
            clock,
            takeFence: (lease) => takeFence(parts.store, lease),
          },
          work,
          signal,
        ),
      supervision,
    );
  let running: readonly Worker[] = [];
  const stopWork = async (): Promise<void> => {
    const stopping = running;
    running = [];
    await Promise.all(stopping.map((worker) => worker.stop()));
  };
  const followSeal = (): void => {
    if (seal.isSealed) {
      stopWork().catch((error: unknown) => logger.error({ err: error }, 'worker did not stop'));
    } else if (running.length === 0) {
      running = Object.entries(periodicWork).map(([name, work]) => runWhileUnsealed(name, work));
    }
    logger.info({ sealed: seal.isSealed }, 'seal changed');
  };
  let unfollow: (() => void) | undefined;
  let roles: Worker | undefined;
  let opening: Worker | undefined;
  let restoring: Worker | undefined;
  const open = async (): Promise<void> => {
    await seal.openWithKeyFile();
    if (seal.isSealed) return;
    await seal.adoptNextKey();
    if (running.length === 0) followSeal();
  };
  return {
    start: async () => {
      unfollow ??= seal.onChange(followSeal);
      if (await context.snapshots.isInterrupted()) {
        // In the background, because the other services need sys to start.
        restoring ??= startWorker(
          'restoration',
          async () => {
            await finishRestoration(context);
            await open();
          },
          supervision,
        );
      } else await open();
      roles ??= startWorker(
        'roles',
        (signal) => followRoles(parts.store, seal, state, signal),
        supervision,
      );
      if (seal.isSealed && parts.config.unsealKeyFile !== undefined)
        opening ??= startWorker(
          'seal opening',
          (signal) => openStaticSeal(seal, store, signal),
          supervision,
        );
    },
    stop: async () => {
      unfollow?.();
      unfollow = undefined;
      await roles?.stop();
      roles = undefined;
      await restoring?.stop();
      restoring = undefined;
      await opening?.stop();
      opening = undefined;
      await stopWork();
      if (seal.isSealed) return;
      await context.activity.write().catch((error: unknown) => {
        logger.warn({ err: error }, 'clients of the last seconds are not counted');
      });
      await context.tokenUses.write().catch((error: unknown) => {
        logger.warn({ err: error }, 'the last uses of some tokens are not stored');
      });
      await context.history.write().catch((error: unknown) => {
        logger.warn({ err: error }, 'requests of the last minute are not in the history');
      });
    },
  };
};
