/**
 * Reads or creates the files with the first token and with the token of the built-in runner, used when none is
 * configured.
 */
import { readFile } from 'node:fs/promises';
import { makeFileDurably } from '@keelson/runtime';
import { newTokenText } from '../model/token-records.ts';

/** The same minimum length applies to the settings. */
export const LEAST_TOKEN_LENGTH = 32;

const hasSystemCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

const load = async (file: string): Promise<string> => {
  const read = async (): Promise<string> => (await readFile(file, 'utf8')).trim();
  const text = await read().catch(async (error: unknown) => {
    if (!hasSystemCode(error, 'ENOENT')) throw error;
    // When several replicas start together, all of them return the token that was written first.
    makeFileDurably(file, `${newTokenText()}\n`);
    return read();
  });
  if (text.length < LEAST_TOKEN_LENGTH)
    throw new Error(`${file} holds no token of at least ${LEAST_TOKEN_LENGTH} characters`);
  return text;
};

interface TokenSettings {
  readonly workspaceBootstrapToken?: string;
  readonly workspaceBootstrapTokenFile?: string;
  readonly runnerToken?: string;
  readonly runnerTokenFile?: string;
}

/** The token that is set, else the one in the file; undefined when there is neither. */
const choose = (token: string | undefined, file: string | undefined) =>
  token === undefined && file !== undefined ? load(file) : Promise.resolve(token);

/**
 * Adds tokens to the settings: the configured ones, or else those in the files. An absent file is created,
 * readable by its owner only.
 * @throws Error naming the file when its content is too short for a token
 */
export const withTokensOfFiles = async <C extends TokenSettings>(config: C): Promise<C> => {
  const first = await choose(config.workspaceBootstrapToken, config.workspaceBootstrapTokenFile);
  const runner = await choose(config.runnerToken, config.runnerTokenFile);
  return {
    ...config,
    ...(first !== undefined && { workspaceBootstrapToken: first }),
    ...(runner !== undefined && { runnerToken: runner }),
  };
};
