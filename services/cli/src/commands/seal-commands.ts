/** `start`, `status`, `init`, `unseal`, `seal`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Command, InvalidArgumentError } from 'commander';
import type { Document } from '../client/api-client.ts';
import { CliFailure, EXIT } from '../client/failure.ts';
import { readSecret } from '../client/terminal.ts';
import type { Cli } from './cli.ts';

const STANDALONE = fileURLToPath(new URL('../../../standalone/src/main.ts', import.meta.url));

/** The same settings of glibc as in `npm start`: large pages, freed blocks returned, two arenas. */
const ALLOCATOR =
  'glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=131072:glibc.malloc.arena_max=2';
/** The same limit of V8's young generation as there. */
const NODE_OPTIONS = '--max-semi-space-size=16';

export const toCount = (text: string): number => {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('It is not a number.');
  return count;
};

/** No signal opens a debugger of the server, and no core is dumped where a shell can prevent it. */
const serverCommand = (given: readonly string[]): readonly [string, ...string[]] => {
  const server = [process.execPath, '--disable-sigusr1', STANDALONE, ...given] as const;
  return process.platform === 'win32'
    ? server
    : ['/bin/sh', '-c', 'ulimit -c 0; exec "$@"', 'sh', ...server];
};

const start = async (cli: Cli, argumentsOfServer: readonly string[]): Promise<void> => {
  const [program, ...given] = serverCommand(argumentsOfServer);
  const server = spawn(program, given, {
    stdio: 'inherit',
    env: { GLIBC_TUNABLES: ALLOCATOR, NODE_OPTIONS, ...cli.environment },
  });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, () => server.kill(signal));
  const [code] = (await once(server, 'exit')) as [number | null];
  process.exitCode = code ?? EXIT.failed;
};

interface Readiness {
  /** Faults of services that serve requests, in sentences. */
  readonly impaired: readonly string[];
  /** The services that serve none, each with the reason. */
  readonly unready: readonly string[];
  /** Whether another cluster leads in place of this one. */
  readonly isSuperseded: boolean;
}

const askReadiness = async ({ client }: Cli): Promise<Readiness> => {
  const ready = await client.raw('/readyz', { isAnonymous: true, accept: [503] });
  const {
    impaired = {},
    reasons = {},
    superseded = false,
  } = (await ready.json()) as {
    readonly impaired?: Readonly<Record<string, readonly string[]>>;
    readonly reasons?: Readonly<Record<string, string>>;
    readonly superseded?: boolean;
  };
  return {
    impaired: Object.entries(impaired).flatMap(([service, sentences]) =>
      sentences.map((sentence) => `${service}: ${sentence}`),
    ),
    unready: Object.entries(reasons).map(([service, reason]) => `${service}: ${reason}`),
    isSuperseded: superseded,
  };
};

/** The next step of the operator; undefined if none is needed. */
const nextStep = (seal: Document, { unready, isSuperseded }: Readiness): string | undefined => {
  if (seal.initialized !== true) return 'Make the keys of the cluster with `keelson init`.';
  if (seal.sealed === true)
    return 'Open the seal with `keelson unseal`, once for each of the key shares.';
  if (unready.length > 0)
    return 'The log of the server says more; `keelson doctor` examines its data.';
  return isSuperseded
    ? 'Another cluster was promoted in its place: follow docs/runbooks/failback.md.'
    : undefined;
};

/** Shown only if there is a token that may read it; the rest of the status needs no token. */
const readIfPermitted = ({ client }: Cli, path: string) =>
  client.v1(path).catch((error: unknown): undefined => {
    if (error instanceof CliFailure) return;
    throw error;
  });

const status = async (cli: Cli): Promise<void> => {
  const { client } = cli;
  const seal = await client.v1('sys/seal-status', { isAnonymous: true });
  const readiness = await askReadiness(cli);
  const { impaired, unready, isSuperseded } = readiness;
  const next = nextStep(seal, readiness);
  const backups = await readIfPermitted(cli, 'sys/storage/backups');
  const runner = (await readIfPermitted(cli, 'sys/host-info'))?.data.runner;
  cli.printFields({
    ...seal,
    ...(impaired.length > 0 && { impaired }),
    ...(seal.sealed !== true && unready.length > 0 && { not_ready: unready }),
    ...(isSuperseded && { superseded: true }),
    ...(next !== undefined && { next }),
    ...(runner !== undefined && { runner: runner.state, runs: runner.description }),
    ...(backups?.data.enabled === true && {
      last_backup: backups.data.last_success?.time ?? 'none',
      last_failed_backup: backups.data.last_failure?.time ?? 'none',
    }),
  });
  if (next !== undefined || impaired.length > 0) process.exitCode = EXIT.notWell;
};

interface InitOptions {
  readonly shares: number;
  readonly threshold: number;
}

const init = async (cli: Cli, { shares, threshold }: InitOptions): Promise<void> => {
  const { client } = cli;
  const { type } = await client.v1('sys/seal-status', { isAnonymous: true });
  const kind = type === 'static' ? 'recovery' : 'secret';
  const made = await client.v1('sys/init', {
    method: 'PUT',
    body: { [`${kind}_shares`]: shares, [`${kind}_threshold`]: threshold },
    isAnonymous: true,
  });
  const keys: readonly string[] = type === 'static' ? made.recovery_keys_base64 : made.keys_base64;
  cli.print(
    made,
    [
      ...keys.map((key, index) => `Key share ${index + 1}: ${key}`),
      `Root token: ${made.root_token}`,
      '',
      'They are shown only now. Keep each share with another person, and none with the backups.',
    ].join('\n'),
  );
};

const unseal = async (cli: Cli, isReset: boolean): Promise<void> => {
  const { client } = cli;
  const body = isReset ? { reset: true } : { key: await readSecret('Key share') };
  const seal = await client.v1('sys/unseal', { method: 'PUT', body, isAnonymous: true });
  if (seal.sealed === true) {
    cli.print(seal, `Sealed: ${seal.progress} of ${seal.t} shares given.`);
    return;
  }
  // After a restoration, this is the moment in which its devices and settings begin to matter here.
  const { impaired } = await askReadiness(cli);
  cli.print(
    { ...seal, ...(impaired.length > 0 && { impaired }) },
    ['Unsealed.', ...impaired].join('\n'),
  );
};

export const addSealCommands = (program: Command, cli: Cli): void => {
  program
    .command('start')
    .description('Start a server in one process; its settings come from the environment.')
    .argument('[arguments...]', 'arguments of the server, after "--": --help lists its settings')
    .action((given: string[]) => start(cli, given));
  program
    .command('status')
    .description(
      'Show the seal and faults of the server; exit code 2 while it is sealed or impaired.',
    )
    .action(() => status(cli));
  program
    .command('init')
    .description('Initialize a new cluster, and print its key shares and root token once.')
    .option('--shares <number>', 'shares of the key', toCount, 5)
    .option('--threshold <number>', 'shares that open the seal', toCount, 3)
    .action((options: InitOptions) => init(cli, options));
  program
    .command('unseal')
    .description('Give one key share, from standard input or a prompt.')
    .option('--reset', 'forget the shares given so far')
    .action(({ reset }: { readonly reset?: true }) => unseal(cli, reset === true));
  program
    .command('seal')
    .description('Seal the server; key shares open it again.')
    .action(async () => {
      await cli.client.v1('sys/seal', { method: 'PUT' });
      cli.print({ sealed: true }, 'Sealed.');
    });
};
