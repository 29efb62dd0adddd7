/**
 * Structured logs: one JSON object per line, secrets taken out of every line before it is written.
 *
 * Levels: `fatal` the process cannot go on; `error` somebody must look, a promise was not kept;
 * `warn` unusual and survived, look if it repeats; `info` a change of state an operator wants to know
 * and one line per request; `debug` what a developer needs to follow one request. A refusal that a
 * client caused is never above `info`.
 */
import { type DestinationStream, type Logger, pino } from 'pino';
import { createTimestamp, traceFields } from './line-fields.ts';
import { redactLine } from './redaction.ts';

export type { Logger } from 'pino';
export { REDACTED, redactLine } from './redaction.ts';
export { createRequestLog, type RequestLine } from './request-log.ts';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LoggerOptions {
  /** The part that logs: "gateway", "pki". Children get their own with `logger.child`. */
  readonly name: string;
  readonly level: LogLevel;
  /** Where lines go; standard output when absent. */
  readonly destination?: DestinationStream;
}

const BATCH_LENGTH = 16_384;
const WRITTEN_WITHIN_MS = 100;
/** Of lines that wait for a disk that is full; what comes beyond is lost. */
const MAX_WAITING_LENGTH = 4 * 1024 * 1024;

/** Whether somebody must look at a line: `createLogger` puts the level first in each. */
const isUrgent = (line: string): boolean =>
  line.startsWith('{"level":"error"') || line.startsWith('{"level":"fatal"');

export interface LogDestination extends DestinationStream {
  flushSync(): void;
  /** Writes what is held, then opens the file again: one of that name is made where the old was moved. */
  reopen(): void;
}

/**
 * Where the lines of a process go: a file (created with mode 0600, added to), or standard output. Lines
 * are written some at a time, since each write is a system call. An error is written at once, with all
 * that came before it, since what it tells of may end the process without a word; the others when the
 * process exits, by itself or after an uncaught error. They are held here because pino's destination
 * measures all that it holds again for each line. Where nothing can be written any more, a full disk,
 * standard error says so once and lines wait: a service does not end for want of its log.
 */
export const openLogDestination = (file?: string): LogDestination => {
  const destination = pino.destination({
    dest: file ?? 1,
    mkdir: true,
    mode: 0o600,
    sync: true,
    maxLength: MAX_WAITING_LENGTH,
  });
  let isFailing = false;
  const report = (error: unknown): void => {
    if (!isFailing) process.stderr.write(`log lines cannot be written: ${String(error)}\n`);
    isFailing = true;
  };
  destination.on('error', report);
  destination.on('write', () => {
    isFailing = false;
  });
  let held = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const lines = held;
    held = '';
    if (lines !== '') destination.write(lines);
  };
  const flushSync = (): void => {
    flush();
    // On a full disk it would try for ever.
    if (!isFailing) destination.flushSync();
  };
  process.on('exit', flushSync);
  return {
    write: (line) => {
      held += line;
      if (held.length >= BATCH_LENGTH || isUrgent(line)) flush();
      else timer ??= setTimeout(flush, WRITTEN_WITHIN_MS).unref();
    },
    flushSync,
    reopen: () => {
      flushSync();
      if (file === undefined) return;
      try {
        destination.reopen();
      } catch (error) {
        // The file in use stays.
        report(error);
      }
    },
  };
};

/** One for all loggers of the process, so that their lines keep their order. */
let standardOutput: DestinationStream | undefined;

/** A logger of one process. */
export const createLogger = ({ name, level, destination }: LoggerOptions): Logger =>
  pino(
    {
      name,
      level,
      base: { name },
      timestamp: createTimestamp(),
      formatters: { level: (label) => ({ level: label }) },
      mixin: traceFields,
      hooks: { streamWrite: redactLine },
    },
    destination ?? (standardOutput ??= openLogDestination()),
  );
