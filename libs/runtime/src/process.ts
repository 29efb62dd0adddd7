/** The life cycle of a process: start, wait for a signal, stop within a time limit. */
import { isatty } from 'node:tty';
import type { Environment } from '@keelson/config';
import { capabilityOf, handlerFaults } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import { keepException } from './exception-file.ts';
import { notifyServiceManager, type ServiceState } from './service-manager.ts';

export interface Stoppable {
  /** Finishes current work and frees all resources. */
  stop(): Promise<void>;
  /** Reopens files, and reloads certificates that operators replace at run time. Never rejects. */
  reload?(): Promise<void>;
}

export interface ProcessOptions {
  /** Name such as "keelson-gateway", used when the start fails. */
  readonly name: string;
  /** `process.env`, where systemd names the socket for messages about start, reload and stop. */
  readonly environment: Environment;
  /** Keeps the count of uncaught exceptions for the next start. */
  readonly exceptionFile: () => string;
  readonly start: () => Promise<Stoppable & { readonly logger: Logger }>;
  /** Time after which the process ends even if work is unfinished. */
  readonly stopWithinMs?: number;
}

/** In a terminal, SIGHUP means that it was closed; otherwise that files were moved or replaced. */
const HAS_TERMINAL = isatty(0);
const SIGNALS: readonly NodeJS.Signals[] = HAS_TERMINAL
  ? ['SIGINT', 'SIGTERM', 'SIGHUP']
  : ['SIGINT', 'SIGTERM'];

const nextSignal = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    for (const signal of SIGNALS) process.once(signal, resolve);
  });

/** Runs reloads one after the other; ignores signals until the start is complete. */
const reloadOnSignal = (): { begin(reload: () => Promise<void>): void } => {
  let under = Promise.resolve();
  let reload: (() => Promise<void>) | undefined;
  if (!HAS_TERMINAL)
    process.on('SIGHUP', () => {
      under = under.then(() => reload?.());
    });
  return {
    begin: (started) => {
      reload = started;
    },
  };
};

const stopWithin = async (running: Stoppable, limitMs: number): Promise<boolean> => {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), limitMs);
  try {
    return await Promise.race([running.stop().then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
};

/** Reports handlers of this thread that fail outside of requests, each of which costs its connection. */
export const reportHandlerFaults = (logger: Logger): void => {
  handlerFaults.subscribe((fault) =>
    logger.error({ err: fault, capability: capabilityOf(fault) }, 'a handler failed'),
  );
};

/**
 * Reports what fails outside of requests. A handler that is guarded costs its connection; any other error, such as a
 * rejection that nobody handles, which Node treats as an uncaught exception, leaves the process in an unknown state,
 * and ends it when the log has been written.
 */
const reportFaults = (logger: Logger, exceptionFile: string): void => {
  reportHandlerFaults(logger);
  process.on('uncaughtException', (error, origin) => {
    const capability = capabilityOf(error);
    logger.fatal({ err: error, capability, origin }, 'uncaught exception');
    try {
      keepException(exceptionFile, capability);
    } catch (err) {
      logger.error({ err, file: exceptionFile }, 'the uncaught exception cannot be counted');
    }
    process.exit(1);
  });
};

/**
 * Starts the process, runs until SIGINT or SIGTERM, reloads on SIGHUP, stops and exits: with 0 after a clean
 * stop, otherwise 1. A second signal ends the process at once. A failed start is reported in one line without
 * a stack.
 */
export const runProcess = async ({
  name,
  environment,
  exceptionFile,
  start,
  stopWithinMs = 30_000,
}: ProcessOptions): Promise<never> => {
  const signalled = nextSignal();
  const reloads = reloadOnSignal();
  // Keeps the event loop alive until the first server listens, because nothing else may.
  const alive = setInterval(() => undefined, 2 ** 30);
  let running: Awaited<ReturnType<typeof start>>;
  try {
    running = await start();
  } catch (error) {
    process.stderr.write(
      `${name} cannot start: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    process.exit(1);
  }
  const { logger } = running;
  const notify = (state: ServiceState): Promise<void> =>
    notifyServiceManager(environment, state).catch((error: unknown) =>
      logger.warn({ err: error, state }, 'systemd could not be notified'),
    );
  reloads.begin(async () => {
    await notify('RELOADING=1');
    await running.reload?.();
    await notify('READY=1');
  });
  reportFaults(logger, exceptionFile());

  await notify('READY=1');
  const signal = await signalled;
  clearInterval(alive);
  for (const again of SIGNALS) process.once(again, () => process.exit(1));
  logger.info({ signal }, 'stopping');
  await notify('STOPPING=1');
  try {
    const clean = await stopWithin(running, stopWithinMs);
    logger.info({ clean }, 'stopped');
    process.exit(clean ? 0 : 1);
  } catch (error) {
    logger.error({ err: error }, 'stop failed');
    process.exit(1);
  }
};
