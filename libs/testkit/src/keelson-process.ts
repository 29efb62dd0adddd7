/**
 * A real standalone control plane as a child process, on ports chosen by the system, started as by `make up`
 * or with a command of the caller, such as one that an installed package provides.
 */
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bundledProcess } from './bundled-processes/bundled-process.ts';
import { spawnEndingWithUs } from './ending-child.ts';

export interface KeelsonProcess {
  readonly pid: number;
  /** "http://127.0.0.1:PORT" */
  readonly http: string;
  /** "https://localhost:PORT" */
  readonly https: string;
  readonly dataFolder: string;
  /** Folder in which other processes see the file system of this one. */
  readonly root: string;
  /** "" if the folder has no `first-run.json`, as after the restoration of another cluster. */
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
  /** Starts it instead of `node --disable-sigusr1` with the bundle of `services/standalone/src/main.ts`. */
  readonly command?: Command;
  /**
   * Size of a disk of its own for the data folder, which exists as long as the process. Other processes find it
   * below \`KeelsonProcess.root\`.
   */
  readonly diskBytes?: number;
  /** Where the command runs. */
  readonly folder?: string;
}

type Command = readonly [program: string, ...given: string[]];

/** The command, in a mount namespace of its own in which the data folder is a disk of this size. */
const withDisk = ({ dataFolder, diskBytes }: KeelsonOptions, command: Command): Command =>
  diskBytes === undefined
    ? command
    : [
        'unshare',
        '--user',
        '--map-root-user',
        '--mount',
        'sh',
        '-c',
        'mount -t tmpfs -o "size=$1,mode=700" none "$2" && shift 2 && exec "$@"',
        'sh',
        String(diskBytes),
        dataFolder,
        ...command,
      ];

/** Resolves when the process has printed its greeting. Rejects with its output if it ends earlier. */
export const startKeelson = async (options: KeelsonOptions): Promise<KeelsonProcess> => {
  const [program, ...given] = withDisk(
    options,
    options.command ?? [
      process.execPath,
      '--disable-sigusr1',
      await bundledProcess('services/standalone/src/main.ts'),
    ],
  );
  const child = await spawnEndingWithUs(program, given, {
    ...(options.folder === undefined ? {} : { cwd: options.folder }),
    logFile: join(options.dataFolder, 'keelson.log'),
    env: {
      // The same on every machine; the proof of threads sets more.
      KEELSON_WORKERS: '1',
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

  const root = `/proc/${child.pid}/root`;
  const firstRun = join(root, options.dataFolder, 'first-run.json');
  const facts = (
    existsSync(firstRun)
      ? JSON.parse(readFileSync(firstRun, 'utf8'))
      : { root_token: '', api_token: '' }
  ) as { root_token: string; api_token: string };
  return {
    pid: child.pid ?? 0,
    http: addresses.find((address) => address.startsWith('http:')) ?? '',
    https: addresses.find((address) => address.startsWith('https:')) ?? '',
    dataFolder: options.dataFolder,
    root,
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
