/**
 * Configuration from the environment: declared once as a typebox object, read once at start.
 *
 * Every key starts with `KEELSON_`. An undeclared key stops the start, so that a misspelt setting is never
 * silently ignored. A process that consists of several parts declares the union of their settings
 * (`composeConfig`).
 */
import { Type } from 'typebox';
import {
  describeSetting,
  environmentNames,
  PREFIX,
  readSetting,
  type SettingDescription,
  toEnvironmentName,
} from './setting.ts';
import { nearest } from './suggestion.ts';

export { type SettingDescription, toEnvironmentName } from './setting.ts';
export { nearest } from './suggestion.ts';

/** Settings of a part: names in camel case, each with a `description` and usually a `default`. */
export type ConfigSchema = Type.TObject<Type.TProperties>;

/** The configuration that a schema describes. */
export type Config<S extends ConfigSchema> = Readonly<Type.Static<S>>;

export type Environment = Readonly<Record<string, string | undefined>>;

/** The configuration is unusable. The message has one line per problem, each naming its key. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join('\n'), options);
    this.problems = problems;
  }
}

const settingsOf = (schema: ConfigSchema) =>
  Object.entries(schema.properties).map(([name, setting]) => ({
    name,
    setting,
    required: (schema.required as readonly string[] | undefined)?.includes(name) ?? false,
  }));

const whatThen = (key: string, known: ReadonlySet<string>): string => {
  const meant = nearest(key, known);
  return meant === undefined ? 'run it with --help for the list.' : `did you mean ${meant}?`;
};

/**
 * Reads `KEELSON_*` from an environment into a frozen object. Other variables are ignored.
 * @throws ConfigError with every problem found: unknown keys, bad values, missing required ones
 */
export const parseConfig = <S extends ConfigSchema>(
  schema: S,
  environment: Environment,
): Config<S> => {
  const settings = settingsOf(schema);
  const known = new Set(settings.map(({ name }) => toEnvironmentName(name)));
  const problems = Object.keys(environment)
    .filter((key) => key.startsWith(PREFIX) && !known.has(key))
    .map((key) => `${key} is not a setting of this process; ${whatThen(key, known)}`);

  const config: Record<string, unknown> = {};
  for (const { name, setting, required } of settings) {
    const text = environmentNames(name, setting)
      .map((key) => environment[key])
      .find((value) => value !== undefined && value !== '');
    const outcome = readSetting(name, setting, required, text);
    if (outcome.problem !== undefined) problems.push(outcome.problem);
    else if (outcome.value !== undefined) config[name] = Object.freeze(outcome.value);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config) as Config<S>;
};

type Merged<S extends readonly ConfigSchema[]> = S extends readonly [
  infer First extends ConfigSchema,
  ...infer Rest extends readonly ConfigSchema[],
]
  ? First['properties'] & Merged<Rest>
  : Record<never, Type.TSchema>;

/**
 * Combines the settings of several parts into one schema. Parts may share a setting only with the same
 * declaration, so that a key never has two meanings.
 */
export const composeConfig = <const S extends readonly ConfigSchema[]>(
  ...schemas: S
): Type.TObject<Merged<S>> => {
  const properties: Record<string, Type.TSchema> = {};
  for (const { name, setting } of schemas.flatMap(settingsOf)) {
    const other = properties[name];
    if (other !== undefined && JSON.stringify(other) !== JSON.stringify(setting))
      throw new Error(`${toEnvironmentName(name)} is declared twice with different meanings`);
    properties[name] = setting;
  }
  return Type.Object(properties) as unknown as Type.TObject<Merged<S>>;
};

/** The settings as operators see them, in the order of their declaration. */
export const settingDescriptions = (schema: ConfigSchema): SettingDescription[] =>
  settingsOf(schema).map(({ name, setting, required }) => describeSetting(name, setting, required));

const fallbackOf = (setting: SettingDescription): string => {
  if (setting.required) return 'required';
  if (setting.default === undefined) return 'not set';
  return setting.default === '' ? 'empty' : setting.default;
};

/** Text for `--help`. */
export const describeConfig = (schema: ConfigSchema): string =>
  settingDescriptions(schema)
    .map(
      (setting) =>
        `${setting.name}${setting.secret ? ' (secret)' : ''}\n` +
        `    ${setting.description}\n` +
        `    ${setting.accepts}; default: ${fallbackOf(setting)}\n`,
    )
    .join('\n');

/** Rows of a Markdown table, for docs/configuration.md. */
export const configMarkdown = (schema: ConfigSchema): string =>
  [
    '| key | value | default | meaning |',
    '|---|---|---|---|',
    ...settingDescriptions(schema).map((setting) => {
      const cells = [
        `\`${setting.name}\``,
        setting.accepts + (setting.secret ? ' (secret)' : ''),
        fallbackOf(setting),
        setting.description,
      ];
      return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
    }),
  ].join('\n');
