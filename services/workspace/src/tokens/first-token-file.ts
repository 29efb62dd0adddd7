/** The first token in a file, where nobody chose one. */
import { readFile } from 'node:fs/promises';
import { makeFileDurably } from '@keelson/runtime';
import { newTokenText } from './token-records.ts';

/** Shorter ones are refused as a setting, too. */
export const LEAST_FIRST_TOKEN_LENGTH = 32;

const hasSystemCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

const load = async (file: string): Promise<string> => {
  const read = async (): Promise<string> => (await readFile(file, 'utf8')).trim();
  const text = await read().catch(async (error: unknown) => {
    if (!hasSystemCode(error, 'ENOENT')) throw error;
    // Several replicas that start together all get the token of the one that was first.
    makeFileDurably(file, `${newTokenText()}\n`);
    return read();
  });
  if (text.length < LEAST_FIRST_TOKEN_LENGTH)
    throw new Error(`${file} holds no token of at least ${LEAST_FIRST_TOKEN_LENGTH} characters`);
  return text;
};

interface FirstTokenSettings {
  readonly workspaceBootstrapToken?: string;
  readonly workspaceBootstrapTokenFile?: string;
}

/**
 * With the token that is set, else with that in the file, which is made when it is absent: readable by its
 * owner alone.
 * @throws Error that names the file when it holds less than a token
 */
export const withFirstToken = async <C extends FirstTokenSettings>(config: C): Promise<C> => {
  const file = config.workspaceBootstrapTokenFile;
  if (config.workspaceBootstrapToken !== undefined || file === undefined) return config;
  return { ...config, workspaceBootstrapToken: await load(file) };
};
