/** The shell blocks of a runbook, and a shell that runs them and keeps its variables between blocks. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const FOLDER = new URL('../../../docs/runbooks/', import.meta.url);

/** The shell blocks of a page in order, each without the indentation of the list around it. */
export const blocksOf = (page: string): readonly string[] => {
  const text = readFileSync(new URL(`${page}.md`, FOLDER), 'utf8');
  return Array.from(
    text.matchAll(/^( *)```sh\n([\s\S]*?)^ *```$/gm),
    ([, indent = '', block = '']) => block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
};

export interface RunbookShell extends AsyncDisposable {
  /** Sets variables as somebody does before the page. */
  set(variables: Readonly<Record<string, string>>): Promise<void>;
  /** Pastes text and resolves with the output of both streams. */
  paste(text: string): Promise<string>;
  /** Pastes all blocks of a page; one element for each. */
  follow(page: string): Promise<readonly string[]>;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export const openRunbookShell = (): RunbookShell => {
  // A separate process group, so that child processes of a block end with it.
  const bash = spawn('bash', ['--norc'], { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  const exited = once(bash, 'exit');
  const lines = createInterface({ input: bash.stdout })[Symbol.asyncIterator]();
  let pasted = 0;

  const paste = async (text: string): Promise<string> => {
    pasted += 1;
    const end = `--- end of ${pasted} ---`;
    bash.stdin.write(`{\n${text}\n} 2>&1 < /dev/null\nprintf '\\n%s\\n' ${quoted(end)}\n`);
    const printed: string[] = [];
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`the shell ended after: ${printed.join('\n')}`);
      if (value === end) return printed.join('\n').trim();
      printed.push(value);
    }
  };

  return {
    paste,
    set: async (variables) => {
      const assignments = Object.entries(variables).map(
        ([name, value]) => `${name}=${quoted(value)}`,
      );
      await paste(assignments.join('\n'));
    },
    follow: async (page) => {
      const printed: string[] = [];
      for (const block of blocksOf(page)) printed.push(await paste(block));
      return printed;
    },
    [Symbol.asyncDispose]: async () => {
      const isRunning = bash.exitCode === null && bash.signalCode === null;
      if (isRunning && bash.pid !== undefined) process.kill(-bash.pid, 'SIGKILL');
      await exited;
    },
  };
};
