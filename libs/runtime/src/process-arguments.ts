/** The arguments of every process. Settings are not arguments: they come from the environment or a file. */
import { parseArgs } from 'node:util';
import { type ConfigSchema, nearest, settingDescriptions } from '@keelson/config';

export interface ProcessArguments {
  readonly task: 'help' | 'version' | 'run';
  readonly configFile?: string | undefined;
  /** The reason why the process cannot run: an argument is unknown or incomplete. */
  readonly problem?: string;
}

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
  config: { type: 'string' },
} as const;

/** Description of the arguments for `--help`. */
export const USAGE = `Arguments:
  --config FILE   read settings from a YAML file, too
  --help          print this text
  --version       print the version

Settings are environment variables. In a file they have the same names without the prefix, in lower
case ("http_port: 8200"). Where both set one, the environment wins.
`;

const unknownArgument = (argument: string, schema: ConfigSchema): string => {
  const asSetting = `KEELSON${argument.replace(/^-+/, '-').split('=', 1)[0]}`
    .replaceAll('-', '_')
    .toUpperCase();
  const meant =
    nearest(
      argument,
      Object.keys(OPTIONS).map((name) => `--${name}`),
    ) ??
    nearest(
      asSetting,
      settingDescriptions(schema).map(({ name }) => name),
    );
  return (
    `"${argument}" is not an argument: settings come from the environment or a file (--config), ` +
    `--help lists them${meant === undefined ? '.' : `; did you mean ${meant}?`}`
  );
};

/** Reads the arguments; a problem suggests the argument that may be meant. */
export const readArguments = (given: readonly string[], schema: ConfigSchema): ProcessArguments => {
  const { values, tokens } = parseArgs({
    args: [...given],
    options: OPTIONS,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  for (const token of tokens) {
    const isKnown = token.kind === 'option' && Object.hasOwn(OPTIONS, token.name);
    if (!isKnown) {
      return { task: 'run', problem: unknownArgument(given[token.index] ?? '', schema) };
    }
  }
  if (values.help !== undefined) return { task: 'help' };
  if (values.version !== undefined) return { task: 'version' };
  const { config } = values;
  if (config !== undefined && (typeof config !== 'string' || config === ''))
    return { task: 'run', problem: '--config needs the name of a file.' };
  return { task: 'run', configFile: config };
};
