/** The reference agent as a process, for an organization-wide pool of the control plane. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from '@keelson/testkit';
import { PROVIDER_ENVIRONMENT } from './provider-mirror.ts';
import type { Installation } from './terraform-cli.ts';

const MAIN = fileURLToPath(new URL('../../deploy/agent/src/main.ts', import.meta.url));

/** For runs that read and write outside of their folders. */
export const UNSAFE = { KEELSON_AGENT_EXECUTION: 'unsafe', KEELSON_AGENT_FIRST_USER_ID: '0' };

export interface AgentProcess {
  readonly child: ChildProcess;
  /** The output so far. */
  readonly output: () => string;
  /** Resolves when the output contains this text. */
  readonly said: (text: string) => Promise<void>;
  /** Stops it like an operator; resolves when it has deregistered. */
  readonly stop: () => Promise<number | null>;
  /** Kills it like the kernel where memory is short; the executor of its phase continues. */
  readonly kill: () => Promise<void>;
}

export interface PoolAccess {
  readonly poolId: string;
  readonly token: string;
}

export const createPool = async (installation: Installation, name: string): Promise<PoolAccess> => {
  const pool = await installation.call('POST', '/organizations/acme/agent-pools', {
    data: { type: 'agent-pools', attributes: { name } },
  });
  const token = await installation.call(
    'POST',
    `/agent-pools/${pool.data.id}/authentication-tokens`,
    {
      data: { type: 'authentication-tokens', attributes: { description: 'of the tests' } },
    },
  );
  return { poolId: pool.data.id, token: String(token.data.attributes['token']) };
};

/**
 * @param folder folder of an earlier agent, or an empty one
 * @param settings further environment variables
 */
export const startAgent = async (
  { address, caFile, providersFile }: Installation,
  { token }: PoolAccess,
  folder: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<AgentProcess> => {
  const child = spawn(process.execPath, ['--disable-sigusr1', MAIN], {
    env: {
      ...PROVIDER_ENVIRONMENT,
      ...bareEnvironment(folder),
      TF_CLI_CONFIG_FILE: providersFile,
      KEELSON_AGENT_ADDRESS: address,
      KEELSON_AGENT_TOKEN: token,
      KEELSON_AGENT_NAME: 'conformance',
      KEELSON_AGENT_FOLDER: folder,
      KEELSON_AGENT_CA_FILE: caFile,
      KEELSON_AGENT_POLL_MILLISECONDS: '200',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  let output = '';
  const heard = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      for (const listen of heard) listen();
    });
  }
  const said = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const listen = (): void => {
        if (!output.includes(text)) return;
        heard.delete(listen);
        resolve();
      };
      heard.add(listen);
      listen();
      exited
        .then(() => reject(new Error(`the agent ended before it said "${text}":\n${output}`)))
        .catch(reject);
    });
  return {
    child,
    output: () => output,
    said,
    stop: async () => {
      child.kill('SIGTERM');
      const [code] = await exited;
      return code;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
};
