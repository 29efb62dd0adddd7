/** The life of a process: start, wait for a signal, stop within a bounded time. */
import { isatty } from 'node:tty';
import type { Logger } from '@keelson/logging';

export interface Stoppable {
  /** Finishes what is under way and frees everything. */
  stop(): Promise<void>;
  /** Opens files again and reads what operators exchange under way: certificates. Never rejects. */
  reload?(): Promise<void>;
}

export interface ProcessOptions {
  /** "keelson-gateway": said when the start fails. */
  readonly name: string;
  readonly start: () => Promise<Stoppable & { readonly logger: Logger }>;
  /** After this the process ends with what is left undone. */
  readonly stopWithinMs?: number;
}

/** In a terminal SIGHUP says that it was closed; elsewhere that files were moved or exchanged. */
const HAS_TERMINAL = isatty(0);
const SIGNALS: readonly NodeJS.Signals[] = HAS_TERMINAL
  ? ['SIGINT', 'SIGTERM', 'SIGHUP']
  : ['SIGINT', 'SIGTERM'];

const nextSignal = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    for (const signal of SIGNALS) process.once(signal, resolve);
  });

/** One reload after the other; a signal before the start is over is nothing to it. */
const reloadOnSignal = (): { begin(running: Stoppable): void } => {
  let under = Promise.resolve();
  let running: Stoppable | undefined;
  if (!HAS_TERMINAL)
    process.on('SIGHUP', () => {
      under = under.then(() => running?.reload?.());
    });
  return {
    begin: (started) => {
      running = started;
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

/**
 * Starts, runs until SIGINT or SIGTERM, reloads at SIGHUP, stops and exits: 0 after a clean stop, 1 otherwise. A second
 * signal ends the process at once. A start that fails says why in one line, without a stack.
 */
export const runProcess = async ({
  name,
  start,
  stopWithinMs = 30_000,
}: ProcessOptions): Promise<never> => {
  const signalled = nextSignal();
  const reloads = reloadOnSignal();
  // Until the first server listens nothing else may hold the event loop: waiting is not ending.
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
  reloads.begin(running);
  const { logger } = running;
  process.on('unhandledRejection', (reason) =>
    logger.error({ err: reason }, 'unhandled rejection'),
  );
  process.on('uncaughtException', (error) => {
    logger.fatal({ err: error }, 'uncaught exception');
    process.exit(1);
  });

  const signal = await signalled;
  clearInterval(alive);
  for (const again of SIGNALS) process.once(again, () => process.exit(1));
  logger.info({ signal }, 'stopping');
  try {
    const clean = await stopWithin(running, stopWithinMs);
    logger.info({ clean }, 'stopped');
    process.exit(clean ? 0 : 1);
  } catch (error) {
    logger.error({ err: error }, 'stop failed');
    process.exit(1);
  }
};
