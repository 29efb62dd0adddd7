/** The parts of a sandbox that this machine allows, found out by trying. */
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type SandboxOptions, toSandboxCommand } from './command.ts';
import { writeSystemCallFilter } from './system-calls.ts';

const run = promisify(execFile);

const WITHIN_MS = 20_000;

export interface SandboxFinding {
  /** "bubblewrap", "network namespace". */
  readonly part: string;
  /** Why it cannot be had; undefined if it can. */
  readonly fault: string | undefined;
}

/** The user that tries; empty means that of this process. */
export interface ProbeUser {
  readonly uid?: number;
  readonly gid?: number;
}

const NOTHING: Omit<SandboxOptions, 'systemCallFilter'> = {
  readOnly: [],
  writable: [],
  workingFolder: '/',
  environment: {},
  seconds: 10,
  processes: 16,
  temporaryBytes: 1024 * 1024,
  fileBytes: 1024 * 1024,
  processBytes: 64 * 1024 * 1024,
};

/** Each part alone, beginning with the program. */
const PARTS: readonly (readonly [part: string, command: readonly string[]])[] = [
  ['bubblewrap', ['bwrap', '--version']],
  ['time limit', ['timeout', '--signal=KILL', '10', 'true']],
  ['limits of processes', ['prlimit', '--nproc=1024', '--core=0', 'true']],
  ['user namespace', ['bwrap', '--unshare-user', '--ro-bind', '/', '/', 'true']],
  [
    'network namespace',
    ['bwrap', '--unshare-user', '--unshare-net', '--ro-bind', '/', '/', 'true'],
  ],
  [
    'IPC and UTS namespaces',
    ['bwrap', '--unshare-user', '--unshare-ipc', '--unshare-uts', '--ro-bind', '/', '/', 'true'],
  ],
  [
    'process namespace with its own /proc',
    ['bwrap', '--unshare-user', '--unshare-pid', '--ro-bind', '/', '/', '--proc', '/proc', 'true'],
  ],
  [
    'no further user namespaces',
    [
      'bwrap',
      '--unshare-user',
      '--unshare-pid',
      '--disable-userns',
      '--ro-bind',
      '/',
      '/',
      '--proc',
      '/proc',
      'true',
    ],
  ],
];

/** The last line that a program has said, or why it could not be started. */
const toReason = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const { code, syscall = '' } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' && syscall.startsWith('spawn')) return 'the program is not installed';
  const said = 'stderr' in error && typeof error.stderr === 'string' ? error.stderr.trim() : '';
  return said.split('\n').at(-1) || error.message;
};

const attempt = async (
  [program = '', ...args]: readonly string[],
  user: ProbeUser,
): Promise<string | undefined> => {
  try {
    // oxlint-disable-next-line node/no-process-env -- where programs are found; no setting is read
    const env = { PATH: process.env['PATH'] ?? '' };
    await run(program, args, { ...user, env, cwd: '/', timeout: WITHIN_MS });
    return undefined;
  } catch (error) {
    return toReason(error);
  }
};

const attemptWhole = async (user: ProbeUser): Promise<string | undefined> => {
  let folder: string | undefined;
  try {
    folder = await mkdtemp(join(tmpdir(), 'keelson-sandbox-'));
    await chmod(folder, 0o755);
    const systemCallFilter = await writeSystemCallFilter(folder);
    return await attempt(toSandboxCommand({ ...NOTHING, systemCallFilter }, ['true']), user);
  } catch (error) {
    return toReason(error);
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
};

/** Makes a sandbox, and if that fails tries each of its parts, to name those that the machine does not allow. */
export const probeSandbox = async (user: ProbeUser = {}): Promise<readonly SandboxFinding[]> => {
  const whole = { part: 'sandbox', fault: await attemptWhole(user) };
  if (whole.fault === undefined) return [whole];
  const parts: SandboxFinding[] = [];
  for (const [part, command] of PARTS) parts.push({ part, fault: await attempt(command, user) });
  return [whole, ...parts];
};

export const isUsable = ([whole]: readonly SandboxFinding[]): boolean =>
  whole !== undefined && whole.fault === undefined;

/** The reasons in a sentence, without its end. */
export const whyUnusable = ([whole, ...parts]: readonly SandboxFinding[]): string => {
  const failed = parts.filter(({ fault }) => fault !== undefined);
  const named = failed.length === 0 && whole !== undefined ? [whole] : failed;
  return named.map(({ part, fault }) => `${part}: ${fault}`).join('; ');
};
