/** The SSH key of a workspace, with a process that signs for others and gives it to nobody. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { Owner } from '../owners/owners.ts';

const run = promisify(execFile);

const ADDED_WITHIN_MS = 10_000;

export interface RunningSshAgent {
  readonly socket: string;
  /** Ends it, and the key with it. */
  readonly end: () => Promise<void>;
}

// oxlint-disable-next-line node/no-process-env -- where programs are found; no setting is read
const environmentOf = () => ({ PATH: process.env['PATH'] ?? '' });

/**
 * @param folder gets the socket
 * @throws Error if `ssh-agent` is not installed, or does not take the key
 */
export const startSshAgent = async (
  folder: string,
  owner: Owner,
  key: string,
): Promise<RunningSshAgent> => {
  const socket = join(folder, 'ssh-agent.sock');
  const options = { ...owner, cwd: '/', env: environmentOf() };
  const agent = spawn('ssh-agent', ['-D', '-a', socket], {
    ...options,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(agent, 'exit').catch(() => undefined);
  const end = async (): Promise<void> => {
    agent.kill('SIGKILL');
    await ended;
    await rm(socket, { force: true });
  };
  try {
    // It says where it listens.
    const listening = once(createInterface({ input: agent.stdout }), 'line');
    await Promise.race([
      listening,
      once(agent, 'exit').then(() => Promise.reject(new Error('ssh-agent does not start'))),
    ]);
    const env = { ...options.env, SSH_AUTH_SOCK: socket, SSH_ASKPASS_REQUIRE: 'never' };
    const adding = run('ssh-add', ['-q', '-'], { ...options, env, timeout: ADDED_WITHIN_MS });
    // ssh reads no key whose last line does not end.
    adding.child.stdin?.on('error', () => undefined);
    adding.child.stdin?.end(`${key.replaceAll('\r\n', '\n').trim()}\n`);
    await adding;
    return { socket, end };
  } catch (error) {
    await end();
    throw error;
  }
};
