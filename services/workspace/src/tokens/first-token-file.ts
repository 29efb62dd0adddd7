/** The first token in a file, where nobody chose one. */
import { randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { newTokenText } from './token-records.ts';

/** Shorter ones are refused as a setting, too. */
export const LEAST_FIRST_TOKEN_LENGTH = 32;

const hasSystemCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

/** Unless another replica was first: of several that start together all are to have the same. */
const make = async (file: string): Promise<void> => {
  const unfinished = `${file}.${randomUUID()}`;
  await writeFile(unfinished, `${newTokenText()}\n`, { flag: 'wx', mode: 0o600, flush: true });
  try {
    await link(unfinished, file);
  } catch (error) {
    if (!hasSystemCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(unfinished);
  }
};

const load = async (file: string): Promise<string> => {
  const read = async (): Promise<string> => (await readFile(file, 'utf8')).trim();
  const text = await read().catch(async (error: unknown) => {
    if (!hasSystemCode(error, 'ENOENT')) throw error;
    await make(file);
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
