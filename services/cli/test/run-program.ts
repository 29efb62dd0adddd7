/** Runs a program to its end, as a person at a terminal does. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export interface Ended {
  /** Exit code; null if a signal ended the program. */
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** @param options working folder, the whole environment of the program, and its standard input */
export const runProgram = async (
  program: string,
  given: readonly string[],
  {
    input = '',
    ...options
  }: { readonly cwd?: string; readonly env: Readonly<NodeJS.ProcessEnv>; readonly input?: string },
): Promise<Ended> => {
  const child = spawn(program, given, { ...options, stdio: 'pipe' });
  // A program that does not read its input may end before it is written.
  child.stdin.on('error', () => undefined).end(input);
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, out, err };
};
