/**
 * Structured logs: one JSON object per line, secrets taken out of every line before it is written.
 *
 * Levels: `fatal` the process cannot go on; `error` somebody must look, a promise was not kept;
 * `warn` unusual and survived, look if it repeats; `info` a change of state an operator wants to know
 * and one line per request; `debug` what a developer needs to follow one request. A refusal that a
 * client caused is never above `info`.
 */
import { isSpanContextValid, trace } from '@opentelemetry/api';
import { type DestinationStream, type Logger, pino } from 'pino';
import { redactLine } from './redaction.ts';

export type { Logger } from 'pino';
export { REDACTED, redactLine } from './redaction.ts';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LoggerOptions {
  /** The part that logs: "gateway", "pki". Children get their own with `logger.child`. */
  readonly name: string;
  readonly level: LogLevel;
  /** Where lines go; standard output when absent. */
  readonly destination?: DestinationStream;
}

const BATCH_BYTES = 4_096;
const FLUSH_EVERY_MS = 100;

/**
 * Where the lines of a process go: a file (created with mode 0600, added to), or standard output. Lines
 * are written some at a time, since each write is a system call; none is lost when the process exits, by
 * itself or after an uncaught error.
 */
export const openLogDestination = (file?: string): DestinationStream => {
  const destination = pino.destination({
    dest: file ?? 1,
    mkdir: true,
    mode: 0o600,
    sync: true,
    minLength: BATCH_BYTES,
    periodicFlush: FLUSH_EVERY_MS,
  });
  process.on('exit', () => destination.flushSync());
  return destination;
};

/** One for all loggers of the process, so that their lines keep their order. */
let standardOutput: DestinationStream | undefined;

/** Ties a line to the trace under way. */
const traceFields = (): object => {
  const context = trace.getActiveSpan()?.spanContext();
  return context !== undefined && isSpanContextValid(context)
    ? { trace_id: context.traceId, span_id: context.spanId }
    : {};
};

/** Time of a line, made once for all lines of a millisecond. */
const createTimestamp = (): (() => string) => {
  let madeForMs = 0;
  let field = '';
  return () => {
    const nowMs = Date.now();
    if (nowMs !== madeForMs) {
      madeForMs = nowMs;
      field = `,"time":"${new Date(nowMs).toISOString()}"`;
    }
    return field;
  };
};

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
