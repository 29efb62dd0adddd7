/** The way from a sandbox to servers, seen from outside of it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { EgressTask } from './egress-task.ts';
import { choosePort, isOnLoopback, type Way } from './way.ts';

export interface EgressOptions extends EgressTask {
  /** The user of the sandbox, who alone may connect to the socket; empty means that of this process. */
  readonly user: { readonly uid?: number; readonly gid?: number };
}

export interface Egress extends AsyncDisposable {
  /** For the program in the sandbox, which opens it (`openWays`). */
  readonly way: Way;
  /** For all programs in the sandbox: where the proxy is. */
  readonly environment: Readonly<Record<string, string>>;
}

const WORKER = fileURLToPath(new URL('./egress-worker.ts', import.meta.url));

/** Programs connect to these without the proxy. */
const DIRECT = 'localhost,127.0.0.1,::1';

const toProxyEnvironment = (port: number): Record<string, string> => {
  const proxy = `http://127.0.0.1:${port}`;
  const values = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, NO_PROXY: DIRECT };
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => [
      [name, value],
      [name.toLowerCase(), value],
    ]),
  );
};

/**
 * Opens a way to the internet, without the networks behind this machine, and to the given servers.
 * @throws Error when the process for it cannot be started
 */
export const openEgress = async ({ user, ...task }: EgressOptions): Promise<Egress> => {
  await rm(task.socket, { force: true });
  const child = spawn(process.execPath, ['--disable-sigusr1', WORKER], {
    ...user,
    cwd: '/',
    env: {},
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  });
  const ended = once(child, 'exit');
  // The process may end before it reads its input.
  child.stdin.on('error', () => undefined);
  child.stdin.write(`${JSON.stringify(task)}\n`);
  const opened = once(createInterface({ input: child.stdout }), 'line');
  const isOpen = await Promise.race([
    opened.then(() => true),
    ended.then(
      () => false,
      () => false,
    ),
  ]);
  if (!isOpen) throw new Error(`nothing listens on ${task.socket}`);
  // One server may have several names: its port is forwarded once.
  const byPort = new Map(task.servers.filter(isOnLoopback).map((server) => [server.port, server]));
  const forwarded = [...byPort.values()];
  const proxyPort = choosePort(forwarded);
  return {
    way: { socket: task.socket, proxyPort, forwarded },
    environment: toProxyEnvironment(proxyPort),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended.catch(() => undefined);
      await rm(task.socket, { force: true });
    },
  };
};
