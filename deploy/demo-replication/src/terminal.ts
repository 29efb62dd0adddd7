/** Output of the demo: one line for each step, with the time it took, and tables. */
import { stripVTControlCharacters, styleText } from 'node:util';

export interface Terminal {
  /** A part of the story. */
  readonly heading: (text: string) => void;
  /** An observation, printed below its step. */
  readonly note: (text: string) => void;
  /** A command of the step under way, printed below the step once that has ended. */
  readonly command: (text: string) => void;
  readonly table: (header: readonly string[], rows: readonly (readonly string[])[]) => void;
  /** Shows the step as running, then its outcome. @throws the error of `work`; after `limitMs` a timeout */
  readonly step: <T>(text: string, work: () => Promise<T>) => Promise<T>;
}

const widthOf = (text: string): number => stripVTControlCharacters(text).length;
const padded = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - widthOf(text)));

/**
 * @param limitMs of each step; steps wait for other clusters, and without a limit a fault would hang the demo
 * @param interrupted once aborted, nothing more is printed and no step begins
 */
export const openTerminal = (
  output: NodeJS.WriteStream,
  limitMs: number,
  interrupted: AbortSignal,
): Terminal => {
  const write = (text: string): void => {
    if (!interrupted.aborted) output.write(text);
  };
  const line = (text: string): void => write(`${text}\n`);
  const within = async <T>(work: Promise<T>): Promise<T> => {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => reject(new Error(`not reached within ${limitMs / 1000} s`)),
      limitMs,
    );
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  };
  const note = (text: string): void => line(`      ${styleText('dim', text)}`);
  let commands: string[] = [];
  return {
    heading: (text) => line(`\n${styleText('bold', text)}`),
    note,
    command: (text) => {
      // A command that is repeated until a cluster is ready is shown once.
      if (commands.at(-1) !== text) commands.push(text);
    },
    table(header, rows) {
      const widths = header.map((title, column) =>
        Math.max(widthOf(title), ...rows.map((row) => widthOf(row[column] ?? ''))),
      );
      const drawn = (row: readonly string[]): string =>
        `    ${row
          .map((cell, column) => padded(cell, widths[column] ?? 0))
          .join('  ')
          .trimEnd()}`;
      line('');
      line(styleText('dim', drawn(header)));
      for (const row of rows) line(drawn(row));
    },
    async step(text, work) {
      interrupted.throwIfAborted();
      if (output.isTTY) write(`  ${styleText('yellow', '…')} ${text}`);
      const startedMs = performance.now();
      const ended = (mark: string): void => {
        const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
        line(`${output.isTTY ? '\r' : ''}  ${mark} ${text} ${styleText('dim', `(${seconds} s)`)}`);
        for (const text of commands) note(text);
        commands = [];
      };
      try {
        const result = await within(work());
        ended(styleText('green', '✔'));
        return result;
      } catch (error) {
        ended(styleText('red', '✘'));
        throw error;
      }
    },
  };
};
