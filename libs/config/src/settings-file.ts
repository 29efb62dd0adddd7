/** Settings from a YAML file: the names of the environment without the prefix, in lower case. */
import { readFile } from 'node:fs/promises';
import { ConfigError } from './config-error.ts';
import { PREFIX, toEnvironmentName } from './setting.ts';

const MOST_BYTES = 1024 * 1024;

export interface SettingsFile {
  readonly path: string;
  /** Values in the form of environment variables, by their names in the file. */
  readonly values: ReadonlyMap<string, string>;
}

/** `httpPort` -> `http_port`. */
export const toFileName = (name: string): string =>
  toEnvironmentName(name).slice(PREFIX.length).toLowerCase();

/** Converts a name written like an environment variable, in camel case or with hyphens, to its form in a file. */
export const asFileName = (written: string): string => {
  const name = written.replaceAll('-', '_');
  return (/[a-z]/.test(name) ? toFileName(name) : name.toLowerCase()).replace(/^keelson_/, '');
};

const isText = (value: unknown): value is string => typeof value === 'string';

const toText = (value: unknown): string | undefined => {
  if (value === null) return '';
  if (isText(value)) return value;
  const isList = Array.isArray(value) && value.every((item) => isText(item) && !item.includes(','));
  return isList ? value.join(',') : undefined;
};

/**
 * Reads a file with one setting per line: `http_port: 8200`. Lists are lists of YAML, or separated by commas.
 * @param origin names the file in messages: "--config" or the variable
 * @throws ConfigError if the file cannot be read, is not a YAML mapping, or contains a setting twice
 */
export const readSettingsFile = async (path: string, origin: string): Promise<SettingsFile> => {
  const refuse = (problem: string, cause?: unknown): ConfigError =>
    new ConfigError([`${origin}: ${problem}`], { cause });
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'ENOENT' ? `there is no ${path}.` : error.message;
    throw refuse(reason, error);
  });
  if (Buffer.byteLength(text) > MOST_BYTES)
    throw refuse(`${path} has more than ${MOST_BYTES} bytes.`);
  // Loaded on use: few processes have such a file.
  const { parseDocument } = await import('yaml');
  // Without types: values are parsed from their text, exactly like those of the environment.
  const document = parseDocument(text, { schema: 'failsafe' });
  const [error] = document.errors;
  if (error !== undefined)
    throw refuse(`${path} is no valid YAML: ${error.message.split('\n')[0]}`);
  // A file with comments only has null or an empty text as content.
  const content: unknown = toPlain(document, refuse) || {};
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw refuse(`${path} must consist of lines such as "http_port: 8200".`);
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(content)) {
    const asText = toText(value);
    if (asText === undefined)
      throw refuse(`${name} in ${path} must be one value, or a list of values without commas.`);
    values.set(name, asText);
  }
  return { path, values };
};

const toPlain = (
  document: { toJS(options: { maxAliasCount: number }): unknown },
  refuse: (problem: string, cause?: unknown) => ConfigError,
): unknown => {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    throw refuse('aliases of YAML are not allowed.', error);
  }
};
