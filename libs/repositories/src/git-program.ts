/**
 * The `git` program, as it is started here: in a separate folder, with nothing of this process's environment
 * but the search path, without hooks, prompts or configuration of the machine, over HTTP and HTTPS, with a key
 * also over SSH, and through the proxy of the fetch. Credentials are in its environment, never in an argument.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { guarded } from '@keelson/errors';
import { RepositoryFailure } from './repository-failure.ts';

export interface GitOptions {
  /** Its home and working directory. */
  readonly folder: string;
  /** The address of the `EgressProxy`, with its credentials. */
  readonly proxyUrl: string;
  /** Sent to this server alone; undefined if there are none for HTTP. */
  readonly credentials:
    | {
        /** Scheme and authority. */
        readonly origin: string;
        readonly username: string;
        readonly password: string;
      }
    | undefined;
  /** The program for SSH; undefined if nothing is fetched over SSH. */
  readonly sshCommand: string | undefined;
  /** Ends the program. */
  readonly signal: AbortSignal;
}

/** Length of the part of git's error output that is kept. */
const MAX_MESSAGE_LENGTH = 500;

const toHeader = (credentials: GitOptions['credentials']): readonly [string, string][] => {
  if (credentials === undefined) return [];
  const { origin, username, password } = credentials;
  const basic = Buffer.from(`${username}:${password}`).toString('base64');
  return [[`http.${origin}/.extraHeader`, `Authorization: Basic ${basic}`]];
};

const configuration = ({ proxyUrl, credentials }: GitOptions): readonly [string, string][] => {
  return [
    ...toHeader(credentials),
    ['http.proxy', proxyUrl],
    ['http.proxyAuthMethod', 'basic'],
    ['http.followRedirects', 'false'],
    ['core.hooksPath', '/dev/null'],
    ['core.fsmonitor', 'false'],
    ['credential.helper', ''],
    ['fetch.fsckObjects', 'true'],
    ['fetch.recurseSubmodules', 'false'],
    ['gc.auto', '0'],
    ['maintenance.auto', 'false'],
    ['protocol.version', '2'],
    ['transfer.bundleURI', 'false'],
  ];
};

const environment = (options: GitOptions): Record<string, string> => {
  const settings = configuration(options);
  return {
    // oxlint-disable-next-line node/no-process-env -- where the program is found; no setting is read
    PATH: process.env['PATH'] ?? '',
    HOME: options.folder,
    LC_ALL: 'C',
    GIT_ALLOW_PROTOCOL: options.sshCommand === undefined ? 'http:https' : 'http:https:ssh',
    ...(options.sshCommand !== undefined && {
      GIT_SSH_COMMAND: options.sshCommand,
      GIT_SSH_VARIANT: 'ssh',
      KEELSON_EGRESS_PROXY: options.proxyUrl,
    }),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'true',
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
};

export interface RunningGit {
  readonly stdout: Readable;
  /** @throws RepositoryFailure with what git said */
  readonly ended: Promise<void>;
}

/** Follows in git's output where ssh has said why. */
const AFTER_SSH = 'fatal: Could not read from remote repository.';

/** A server writes into git's messages, and a terminal that shows one would obey its control characters. */
const toPlain = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ');

/** The last message that git calls fatal, without the credentials and control characters. */
const toMessage = (stderr: string, { credentials }: GitOptions): string => {
  const lines = stderr.split(/\r?\n/).filter((line) => line.trim() !== '');
  const at = lines.findLastIndex((line) => /^(?:fatal|error): /.test(line));
  const message = (lines[at] === AFTER_SSH && lines[at - 1]) || (lines.at(at) ?? '');
  const shown = message.replace(/^(?:fatal|error): /, '');
  const safe = credentials === undefined ? shown : shown.replaceAll(credentials.password, '…');
  return toPlain(safe.slice(0, MAX_MESSAGE_LENGTH));
};

/** Its output is read by the caller. What it starts in turn ends with the group of the worker. */
export const startGit = (options: GitOptions, ...args: readonly string[]): RunningGit => {
  const child = spawn('git', args, {
    cwd: options.folder,
    env: environment(options),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = (): void => {
    child.kill('SIGKILL');
    // A program that it has started may hold the pipes.
    child.stdout.destroy();
    child.stderr.destroy();
  };
  options.signal.addEventListener('abort', kill, { once: true });
  let stderr = '';
  child.stderr.setEncoding('utf8').on(
    'data',
    guarded('repositories', (chunk: string) => {
      stderr = (stderr + chunk).slice(-16_384);
    }),
  );
  const run = async (): Promise<void> => {
    try {
      const [code] = (await once(child, 'close')) as [number | null];
      options.signal.throwIfAborted();
      if (code !== 0) throw new RepositoryFailure(`git: ${toMessage(stderr, options)}`);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
        throw new RepositoryFailure('git is not installed where repositories are fetched');
      throw error;
    } finally {
      options.signal.removeEventListener('abort', kill);
    }
  };
  const ended = run();
  // The reader of the output may stop early.
  ended.catch(() => undefined);
  return { stdout: child.stdout, ended };
};

/** Output of git commands that is read as a whole. */
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** @throws RepositoryFailure with what git said, or for more output than is read */
export const runGit = async (options: GitOptions, ...args: readonly string[]): Promise<Buffer> => {
  const { stdout, ended } = startGit(options, ...args);
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of stdout as AsyncIterable<Buffer>) {
    pieces.push(piece);
    size += piece.byteLength;
    if (size > MAX_OUTPUT_BYTES) {
      throw new RepositoryFailure(
        `git ${args[0]}: the repository has more entries than are read at once`,
        { isFinal: true },
      );
    }
  }
  await ended;
  return Buffer.concat(pieces);
};
