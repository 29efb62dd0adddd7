/** Explains why a process does not start, naming the setting concerned and the remedy. */
import { type Config, ConfigError, type ConfigSchema, toEnvironmentName } from '@keelson/config';

/** Fields of a Node.js system-call error. */
interface SystemError extends Error {
  readonly code: string;
  readonly path?: string;
  readonly address?: string;
  readonly port?: number;
}

const isSystemError = (error: unknown): error is SystemError =>
  error instanceof Error && typeof (error as Partial<SystemError>).code === 'string';

const REASONS: Readonly<Record<string, (error: SystemError) => string>> = {
  EADDRINUSE: ({ port, address }) =>
    `port ${port} of ${address} is in use by another process; end that one or set another port.`,
  EADDRNOTAVAIL: ({ address }) => `${address} is not an address of this machine.`,
  ENOENT: ({ path }) => `there is no ${path}; create it or correct the setting.`,
  EISDIR: ({ path }) => `${path} is a folder, a file is needed.`,
  ENOTDIR: ({ path }) => `${path} is not in a folder: a part of it is a file.`,
  EEXIST: ({ path }) => `${path} is a file, a folder is needed.`,
  EROFS: ({ path }) => `${path} is on a file system that is read-only.`,
  ENOSPC: ({ path }) => `there is no space left for ${path}.`,
};

const explainDenied = ({ path, port }: SystemError): string =>
  path === undefined
    ? `this user may not open port ${port}; take one above 1023.`
    : `this user (${process.getuid?.() ?? 'unknown'}) may not use ${path}; give it the right, or set another place.`;

const reasonOf = (error: SystemError): string | undefined =>
  error.code === 'EACCES' || error.code === 'EPERM'
    ? explainDenied(error)
    : REASONS[error.code]?.(error);

/**
 * The setting that an error concerns: a port by its number, otherwise the setting with the longest value in
 * the error.
 */
const settingOf = <S extends ConfigSchema>(
  error: Error,
  schema: S,
  config: Config<S>,
): string | undefined => {
  const values = Object.entries(config as Readonly<Record<string, unknown>>);
  const { port, code, path = '' } = error as Partial<SystemError>;
  const byPort = values.find(
    ([name, value]) => port !== undefined && value === port && name.endsWith('Port'),
  );
  if (byPort !== undefined && code !== 'EADDRNOTAVAIL') return byPort[0];
  const named = values.filter(
    ([name, value]) =>
      typeof value === 'string' &&
      // A name, such as that of the cluster, is part of many paths.
      /[/:.]/.test(value) &&
      (schema.properties[name] as { secret?: boolean }).secret !== true &&
      (error.message.includes(value) || path.includes(value)),
  );
  return named.sort(([, one], [, other]) => String(other).length - String(one).length)[0]?.[0];
};

/**
 * Explains a start failure to an operator. An error that already names its setting is returned unchanged.
 * @returns an error with the setting and the remedy, if the system error concerns a setting
 */
export const explainStartFailure = <S extends ConfigSchema>(
  error: unknown,
  schema: S,
  config: Config<S>,
): unknown => {
  if (!(error instanceof Error) || error.message.includes('KEELSON_')) return error;
  const setting = settingOf(error, schema, config);
  if (setting === undefined) return error;
  const reason = (isSystemError(error) && reasonOf(error)) || error.message;
  return new ConfigError([`${toEnvironmentName(setting)}: ${reason}`], { cause: error });
};
