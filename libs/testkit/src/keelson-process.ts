/**
 * A real standalone control plane as a child process, on ports chosen by the system, started as by `make up`
 * or with a command of the caller, such as one that an installed package provides.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { spawnEndingWithUs } from './ending-child.ts';

export interface KeelsonProcess {
  readonly pid: number;
  /** "http://127.0.0.1:PORT" */
  readonly http: string;
  /** "https://localhost:PORT" */
  readonly https: string;
  readonly dataFolder: string;
  readonly rootToken: string;
  readonly apiToken: string;
  /** Everything printed so far, both streams. */
  output(): string;
  /** Sends the signal and resolves with the exit code, null after SIGKILL. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface KeelsonOptions {
  readonly dataFolder: string;
  /** Additional KEELSON_* variables. Without `KEELSON_RUNNER` the built-in runner is off, as few tests have runs. */
  readonly env?: Readonly<Record<string, string>>;
  /** Starts it instead of `node services/standalone/src/main.ts`. */
  readonly command?: readonly [program: string, ...given: string[]];
  /** Where the command runs. */
  readonly folder?: string;
}

const MAIN = fileURLToPath(new URL('../../../services/standalone/src/main.ts', import.meta.url));

/** Resolves when the process has printed its greeting. Rejects with its output if it ends earlier. */
export const startKeelson = async (options: KeelsonOptions): Promise<KeelsonProcess> => {
  const [program, ...given] = options.command ?? [process.execPath, MAIN];
  const child = await spawnEndingWithUs(program, given, {
    ...(options.folder === undefined ? {} : { cwd: options.folder }),
    env: {
      ...process.env,
      KEELSON_HTTP_PORT: '0',
      KEELSON_HTTPS_PORT: '0',
      KEELSON_DATA_DIR: options.dataFolder,
      KEELSON_RUNNER: 'false',
      ...options.env,
    },
  });
  const lines: string[] = [];
  const addresses: string[] = [];
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const ready = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line);
        const api = /^ {2}API {10}(.+)$/.exec(line)?.[1];
        if (api !== undefined) addresses.push(...api.split(/\s+/));
        // The greeting's last line.
        if (line.includes('Ctrl-C stops')) resolve();
      });
  });
  const ended = exited.then(([code]) => {
    throw new Error(`Keelson ended with ${code} before it was up:\n${lines.join('\n')}`);
  });
  await Promise.race([ready, ended]);
  ended.catch(() => undefined);

  const facts = JSON.parse(readFileSync(join(options.dataFolder, 'first-run.json'), 'utf8')) as {
    root_token: string;
    api_token: string;
  };
  return {
    pid: child.pid ?? 0,
    http: addresses.find((address) => address.startsWith('http:')) ?? '',
    https: addresses.find((address) => address.startsWith('https:')) ?? '',
    dataFolder: options.dataFolder,
    rootToken: facts.root_token,
    apiToken: facts.api_token,
    output: () => lines.join('\n'),
    stop: async (signal = 'SIGINT') => {
      child.kill(signal);
      const [code] = await exited;
      return code;
    },
  };
};
