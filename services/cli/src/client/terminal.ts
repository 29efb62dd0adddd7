/** Standard input and output of the command. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { CliFailure, EXIT } from './failure.ts';

/** A line typed at the terminal, not echoed; or all of standard input if it is not a terminal. */
export const readSecret = async (what: string): Promise<string> => {
  if (!process.stdin.isTTY) {
    const given = (await text(process.stdin)).trim();
    if (given === '') throw new CliFailure(`${what} is read from standard input, which is empty.`);
    return given;
  }
  process.stderr.write(`${what}: `);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return (await lines.question('')).trim();
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
};

/** The lines of standard input that have not been asked for; undefined before it is read. */
let unread: string[] | undefined;

/** As `readSecret`, but one line of standard input at a time, for commands that may ask for several secrets. */
export const readSecretLine = async (what: string): Promise<string> => {
  if (process.stdin.isTTY) return readSecret(what);
  unread ??= (await text(process.stdin)).trim().split('\n');
  const given = unread.shift()?.trim() ?? '';
  if (given === '')
    throw new CliFailure(`${what} is read from standard input, which has no line for it.`);
  return given;
};

/**
 * Ends the command when its output cannot be written: silently if the reader has ended (`| head`), with the reason and
 * exit code 1 otherwise, as on a full disk.
 */
export const endWithOutput = (output: NodeJS.WritableStream): void => {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.done);
    process.stderr.write(`The output cannot be written: ${error.message}.\n`);
    process.exit(EXIT.failed);
  });
};

/** Formats rows of text as columns, each as wide as its widest cell. */
export const toTable = (rows: readonly (readonly string[])[]): string => {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};
