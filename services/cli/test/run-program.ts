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

/** @param options working folder, and the whole environment of the program */
export const runProgram = async (
  program: string,
  given: readonly string[],
  options: { readonly cwd?: string; readonly env: Readonly<NodeJS.ProcessEnv> },
): Promise<Ended> => {
  const child = spawn(program, given, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, out, err };
};
