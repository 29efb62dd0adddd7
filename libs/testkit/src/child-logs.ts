/** The last lines that child processes have logged, for the report of a test that fails. */
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';

const LAST_LINES = 20;
const MAX_CHARACTERS = 8000;

export interface ChildLog {
  /** Its command line. */
  readonly child: string;
  readonly lines: readonly string[];
}

interface LoggedChild {
  readonly command: string;
  hasEnded: boolean;
  printed: string;
  /** The end of its log file, read when it ended, because the file may be removed after that. */
  logged: string;
  readonly logFile: string | undefined;
}

interface Child {
  readonly stdout: Readable;
  readonly stderr: Readable;
  once(event: 'exit', listener: () => void): unknown;
}

const children = new Set<LoggedChild>();

/** "" if there is no such file, as before the first line. */
const endOfFile = (file: string | undefined): string => {
  try {
    return file === undefined ? '' : readFileSync(file, 'utf8').slice(-MAX_CHARACTERS);
  } catch {
    return '';
  }
};

/** @param logFile file to which the child writes its log, if it does not print it */
export const recordLog = (child: Child, command: string, logFile?: string): void => {
  const entry: LoggedChild = { command, logFile, hasEnded: false, printed: '', logged: '' };
  children.add(entry);
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      entry.printed = (entry.printed + chunk.toString()).slice(-MAX_CHARACTERS);
    });
  child.once('exit', () => {
    entry.logged = endOfFile(logFile);
    entry.hasEnded = true;
  });
};

/** Forgets the children that have ended, after a test. */
export const forgetEndedChildren = (): void => {
  for (const child of children) if (child.hasEnded) children.delete(child);
};

/** The last 20 lines of every child that runs, or has ended since the test before. */
export const childLogs = (): readonly ChildLog[] =>
  [...children].map(({ command, hasEnded, printed, logged, logFile }) => ({
    child: command,
    lines: `${printed}${hasEnded ? logged : endOfFile(logFile)}`
      .trimEnd()
      .split('\n')
      .slice(-LAST_LINES),
  }));
