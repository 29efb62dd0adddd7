/** A server under measurement: an ordinary process, requested over HTTP as by its clients. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { processUsage, type Usage } from './child-process.ts';

export interface ServerProcess {
  /** Time from `spawn` to the first response, in milliseconds. */
  readonly startedMilliseconds: number;
  residentMegabytes(): number;
  usage(): Usage;
  stop(): Promise<void>;
}

interface ServerProcessOptions {
  readonly module: URL;
  readonly env: Readonly<Record<string, string>>;
  /** Polled until it responds with any status. */
  readonly firstRequest: string;
}

/** A port that was free a moment ago. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
};

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    (response) => response.arrayBuffer().then(() => true),
    () => false,
  );

const residentMegabytes = (pid: number): number => {
  const resident = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(resident) / 1024;
};

/** The same value as in `make up`. */
export const NODE_COMPILE_CACHE = fileURLToPath(
  new URL('../../node_modules/.cache/compiled', import.meta.url),
);

export const startServer = async (options: ServerProcessOptions): Promise<ServerProcess> => {
  const startedAt = performance.now();
  const child: ChildProcess = spawn(process.execPath, [fileURLToPath(options.module)], {
    env: {
      PATH: process.env['PATH'],
      GLIBC_TUNABLES: process.env['GLIBC_TUNABLES'],
      NODE_OPTIONS: process.env['NODE_OPTIONS'],
      NODE_COMPILE_CACHE,
      ...options.env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaints = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  const exited = once(child, 'exit');
  while (!(await answers(options.firstRequest))) {
    if (child.exitCode !== null) throw new Error(`the server ended: ${complaints}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const startedMilliseconds = performance.now() - startedAt;
  const pid = child.pid as number;
  return {
    startedMilliseconds,
    residentMegabytes: () => residentMegabytes(pid),
    usage: () => processUsage(pid),
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
};
