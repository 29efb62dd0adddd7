/** The command `keelson`, with which the operator of the story works; the reader sees every call of it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { DemoCluster } from './stage.ts';
import type { Terminal } from './terminal.ts';

const { PATH } = process.env;
const MAIN = fileURLToPath(new URL('../../../services/cli/src/main.ts', import.meta.url));
/** Longer arguments are tokens and keys, which nobody reads. */
const LONGEST_ARGUMENT = 60;

export type Keelson = (
  cluster: DemoCluster,
  given: readonly string[],
  input?: string,
) => Promise<string>;

const toWord = (argument: string): string =>
  argument.length > LONGEST_ARGUMENT ? `${argument.slice(0, 8)}…` : argument;

/**
 * @returns runs the command with the root token of a cluster, and `input` as standard input, which is not shown; its
 * result is the output without the last line end, and its error the message of the command
 */
export const openKeelson =
  ({ command }: Pick<Terminal, 'command'>): Keelson =>
  async (cluster, given, input = '') => {
    command(`${cluster.name}$ keelson ${given.map(toWord).join(' ')}`);
    const child = spawn(process.execPath, [MAIN, ...given], {
      env: {
        PATH,
        KEELSON_ADDR: cluster.address(),
        KEELSON_TOKEN: cluster.token,
      },
      stdio: 'pipe',
    });
    child.stdin.on('error', () => undefined).end(input);
    const [out, err, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    if (code !== 0) throw new Error(err.trim());
    return out.trim();
  };
