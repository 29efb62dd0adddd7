/** The user's tokens, in files that only the user can read. */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { writeFileDurably } from '@keelson/runtime/durable-files';
import { CliFailure } from './failure.ts';

/** "token" is for `/v1`, "api-token" for `/api/v2`. */
export type TokenKind = 'token' | 'api-token';

type Environment = Readonly<Record<string, string | undefined>>;

const VARIABLES: Readonly<Record<TokenKind, readonly string[]>> = {
  token: ['KEELSON_TOKEN', 'VAULT_TOKEN'],
  'api-token': ['KEELSON_API_TOKEN'],
};

const OTHERS = 0o077;

const folderOf = (environment: Environment): string =>
  environment['KEELSON_CONFIG_DIR'] ?? join(homedir(), '.keelson');

export const tokenFile = (environment: Environment, kind: TokenKind): string =>
  join(folderOf(environment), kind);

/**
 * The token from the environment, or the one that `keelson login` stored.
 * @throws CliFailure when other users can read the file
 */
export const findToken = (environment: Environment, kind: TokenKind): string | undefined => {
  for (const name of VARIABLES[kind]) {
    const value = environment[name];
    if (value !== undefined && value !== '') return value;
  }
  const file = tokenFile(environment, kind);
  if (!existsSync(file)) return undefined;
  if ((statSync(file).mode & OTHERS) !== 0)
    throw new CliFailure(`${file} can be read by others and is not used: chmod 600 ${file}`);
  return readFileSync(file, 'utf8').trim();
};

/** @throws CliFailure that says how to log in, when there is no token */
export const requireToken = (environment: Environment, kind: TokenKind): string => {
  const token = findToken(environment, kind);
  if (token === undefined)
    throw new CliFailure(
      kind === 'token'
        ? 'There is no token: log in with `keelson login`, or set KEELSON_TOKEN.'
        : 'There is no token of /api/v2: log in with `keelson login --api`, or set KEELSON_API_TOKEN.',
    );
  return token;
};

export const keepToken = (environment: Environment, kind: TokenKind, token: string): string => {
  mkdirSync(folderOf(environment), { recursive: true, mode: 0o700 });
  const file = tokenFile(environment, kind);
  writeFileDurably(file, `${token}\n`);
  return file;
};

export const forgetTokens = (environment: Environment): void => {
  for (const kind of ['token', 'api-token'] as const)
    rmSync(tokenFile(environment, kind), { force: true });
};
