/**
 * Structured logs: one JSON object per line, with secrets removed before it is written.
 *
 * Levels: `fatal`: the process cannot continue. `error`: an operator must act, because a guarantee was not
 * met. `warn`: unusual but handled, to be examined if it repeats. `info`: a change of state that operators
 * want to know, and one line per request. `debug`: details for a developer who follows one request. A refusal
 * caused by a client is never above `info`.
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
  /** The logging component: "gateway", "pki". `logger.child` creates loggers with other names. */
  readonly name: string;
  readonly level: LogLevel;
  /** Destination of the lines; standard output when absent. */
  readonly destination?: DestinationStream;
}

const BATCH_LENGTH = 16_384;
const WRITTEN_WITHIN_MS = 100;
/** Maximum length of lines held while the disk is full; further lines are lost. */
const MAX_WAITING_LENGTH = 4 * 1024 * 1024;

/** Whether a line needs attention: `createLogger` puts the level first. */
const isUrgent = (line: string): boolean =>
  line.startsWith('{"level":"error"') || line.startsWith('{"level":"fatal"');

export interface LogDestination extends DestinationStream {
  flushSync(): void;
  /** Writes held lines and reopens the file; creates it if log rotation moved it. */
  reopen(): void;
}

/**
 * Opens the log of a process: a file (created with mode 0600, appended to), or standard output. Lines are
 * written in batches, because each write is a system call. An error is written at once with all lines before
 * it, because its cause may end the process abruptly; held lines are also written when the process exits,
 * normally or after an uncaught error. Batches are held here because pino's destination measures its whole
 * buffer again for each line. When writing fails, as on a full disk, standard error reports it once and lines
 * wait, so that a service does not end for lack of a log.
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
    // On a full disk, flushing would retry for ever.
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
        // The current file stays in use.
        report(error);
      }
    },
  };
};

/** Shared by all loggers of the process, so that lines stay in order. */
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
