/** Standard input and output of the command. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { CliFailure } from './failure.ts';

/** A line typed at a terminal, which does not show it; or all of standard input if it is none. */
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

/** Columns of text, as wide as their widest cell. */
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
