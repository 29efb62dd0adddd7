/**
 * Destination of an audit device: a file or a socket. A write that is not accepted in time counts
 * as failed.
 */
import type { FileHandle } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { parseDurationSeconds } from '@keelson/secrets-api';
import { type AuditFileRules, openAuditFile, tryAuditFile } from './audit-file.ts';

export interface AuditSink {
  /** Resolves when the line was accepted. */
  write(line: string): Promise<void>;
  /** Tries whether a line could be written, without writing one. @throws Error with the reason */
  check(): Promise<void>;
  /** Closes after the writes in progress; a later write opens it again. */
  close(): Promise<void>;
}

type Options = Readonly<Record<string, string>>;

/** The code of a failed system call, or the text of an error of our own, neither of which names a path. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error ? String(error.code) : error.message;
};

const WRITE_TIMEOUT_SECONDS = 2;

const within = async <T>(work: Promise<T>, limitMs: number): Promise<T> => {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error('audit device did not accept in time')),
    limitMs,
  );
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
};

/** Entries in a file that was removed while it was open are lost; the next one makes the file again. */
const requireNamed = async (file: FileHandle): Promise<void> => {
  if ((await file.stat()).nlink > 0) return;
  await file.close();
  throw new Error('the file was removed, and is made again');
};

const fileSink = (options: Options, rules: AuditFileRules): AuditSink => {
  const path = options['file_path'] ?? '';
  const nothing = (): Promise<void> => Promise.resolve();
  if (path === 'discard') return { write: nothing, check: nothing, close: nothing };
  if (path === 'stdout')
    return {
      write: (line) =>
        new Promise((resolve, reject) => {
          process.stdout.write(line, (error) => (error ? reject(error) : resolve()));
        }),
      check: nothing,
      close: nothing,
    };
  const mode = Number.parseInt(options['mode'] ?? '0600', 8) || 0o600;
  let opened: ReturnType<typeof openAuditFile> | undefined;
  const withFile = async (use: (file: FileHandle) => Promise<void>): Promise<void> => {
    opened ??= openAuditFile(path, mode, rules);
    try {
      await use(await opened);
    } catch (error) {
      opened = undefined;
      throw error;
    }
  };
  return {
    write: (line) => withFile((file) => file.appendFile(line)),
    check: () => withFile(requireNamed),
    close: async () => {
      const former = opened;
      opened = undefined;
      // If the file could not be opened, the write that tried has already reported it.
      await (await former?.catch(() => undefined))?.close();
    },
  };
};

const socketSink = (options: Options): AuditSink => {
  const address = options['address'] ?? '';
  const limitMs =
    (parseDurationSeconds(options['write_timeout'] ?? '') || WRITE_TIMEOUT_SECONDS) * 1000;
  let socket: Socket | undefined;
  const connected = (): Socket => {
    if (socket !== undefined && !socket.destroyed && socket.writable) return socket;
    const colon = address.lastIndexOf(':');
    socket =
      options['socket_type'] === 'unix'
        ? connect(address)
        : connect(
            Number(address.slice(colon + 1)),
            address.slice(0, colon).replaceAll(/[[\]]/g, ''),
          );
    socket.on('error', () => socket?.destroy());
    return socket;
  };
  return {
    write: (line) =>
      within(
        new Promise<void>((resolve, reject) => {
          connected().write(line, (error) => (error ? reject(error) : resolve()));
        }),
        limitMs,
      ),
    check: () =>
      within(
        new Promise<void>((resolve, reject) => {
          // Called in order, once the connection is open.
          connected().write('', (error) => (error ? reject(error) : resolve()));
        }),
        limitMs,
      ),
    close: () => {
      socket?.destroy();
      return Promise.resolve();
    },
  };
};

const damaged = (): Promise<void> =>
  Promise.reject(new Error('the record of the audit device is damaged'));
/** Sink of a device whose stored record is damaged: it accepts no entry. */
const damagedSink: AuditSink = {
  write: damaged,
  check: damaged,
  close: () => Promise.resolve(),
};

export const openAuditSink = (type: string, options: Options, rules: AuditFileRules): AuditSink => {
  if (type === 'damaged') return damagedSink;
  return type === 'socket' ? socketSink(options) : fileSink(options, rules);
};

/** A device as it is stored. */
export interface ExaminedDevice {
  readonly type: string;
  readonly options: Options;
}

export interface ExaminedDestination {
  /** A path or an address. */
  readonly destination: string;
  /** Why nothing can be written there; undefined if it can. */
  readonly reason: string | undefined;
}

/** Tries whether a device could be written to by this user, and leaves everything as it is. */
export const examineAuditDevice = async ({
  type,
  options,
}: ExaminedDevice): Promise<ExaminedDestination> => {
  const path = options['file_path'] ?? options['path'] ?? '';
  const isFile = type === 'file' && path !== 'discard' && path !== 'stdout';
  const sink = openAuditSink(type, options, { folders: [], reserved: [] });
  try {
    await (isFile ? tryAuditFile(path) : sink.check());
    return { destination: options['address'] ?? path, reason: undefined };
  } catch (error) {
    return { destination: options['address'] ?? path, reason: reasonOf(error) };
  } finally {
    await sink.close();
  }
};
