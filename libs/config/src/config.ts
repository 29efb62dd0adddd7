/**
 * Configuration from the environment and a file: declared once as a typebox object, read once at start.
 *
 * Every key starts with `KEELSON_`. An undeclared key stops the start, so that a misspelt setting is never
 * silently ignored. The variables of Keelson's other programs and of Kubernetes are the exception. A process that
 * consists of several parts declares the union of their settings (`composeConfig`).
 */
import { Type } from 'typebox';
import { ConfigError } from './config-error.ts';
import { isForeign } from './foreign-variables.ts';
import { exposedFiles } from './private-files.ts';
import {
  describeSetting,
  environmentNames,
  mistakenNames,
  PREFIX,
  readSetting,
  type SettingDescription,
  toEnvironmentName,
} from './setting.ts';
import { asFileName, type SettingsFile, toFileName } from './settings-file.ts';
import { nearest } from './suggestion.ts';

export { ConfigError } from './config-error.ts';
export { type SettingDescription, toEnvironmentName } from './setting.ts';
export { readSettingsFile, type SettingsFile } from './settings-file.ts';
export { nearest } from './suggestion.ts';

declare module 'typebox' {
  interface TSchemaOptions {
    /** Groups of the settings of an object, as `--help` and the reference page show them. */
    groups?: readonly SettingGroup[];
  }
}

interface SettingGroup {
  readonly title: string;
  readonly names: readonly string[];
}

/** Settings of a part: names in camel case, each with a `description` and usually a `default`. */
export type ConfigSchema = Type.TObject<Type.TProperties>;

/** The configuration that a schema describes. */
export type Config<S extends ConfigSchema> = Readonly<Type.Static<S>>;

export type Environment = Readonly<Record<string, string | undefined>>;

const settingsOf = (schema: ConfigSchema) =>
  Object.entries(schema.properties).map(([name, setting]) => ({
    name,
    setting,
    required: (schema.required as readonly string[] | undefined)?.includes(name) ?? false,
  }));

/** The settings by their own name, and by those that people try in its place, written as the source writes them. */
const namesOf = (schema: ConfigSchema, write: (name: string) => string) => {
  const settings = settingsOf(schema);
  return {
    known: new Set(settings.map(({ name }) => write(name))),
    mistaken: new Map(
      settings.flatMap(({ name, setting }) =>
        mistakenNames(setting).map((tried) => [write(tried), write(name)] as const),
      ),
    ),
  };
};

const whatThen = (key: string, { known, mistaken }: ReturnType<typeof namesOf>): string => {
  const meant = mistaken.get(key) ?? nearest(key, known);
  return meant === undefined ? 'run it with --help for the list.' : `did you mean ${meant}?`;
};

/** Problems with the names in a file, each with a suggestion. */
const unknownInFile = ({ path, values }: SettingsFile, schema: ConfigSchema): readonly string[] => {
  const names = namesOf(schema, toFileName);
  return [...values.keys()]
    .filter((name) => !names.known.has(name))
    .map(
      (name) =>
        `${name} in ${path} is not a setting of this process; ${whatThen(asFileName(name), names)}`,
    );
};

const textOf = (values: Iterable<string | undefined>): string | undefined =>
  [...values].find((value) => value !== undefined && value !== '');

/**
 * Reads `KEELSON_*` from an environment, and the settings that it lacks from a file, into a frozen object.
 * Other variables are ignored.
 * @throws ConfigError with every problem found: unknown keys, bad values, missing required ones
 */
export const parseConfig = <S extends ConfigSchema>(
  schema: S,
  environment: Environment,
  file?: SettingsFile,
): Config<S> => {
  const settings = settingsOf(schema);
  const names = namesOf(schema, toEnvironmentName);
  const problems = Object.entries(environment)
    .filter(
      ([key, value]) => key.startsWith(PREFIX) && !names.known.has(key) && !isForeign(key, value),
    )
    .map(([key]) => key)
    .map((key) => `${key} is not a setting of this process; ${whatThen(key, names)}`);
  if (file !== undefined) problems.push(...unknownInFile(file, schema));

  const config: Record<string, unknown> = {};
  for (const { name, setting, required } of settings) {
    const own = textOf(environmentNames(name, setting).map((key) => environment[key]));
    const inFile = toFileName(name);
    const isFromFile = own === undefined && file?.values.has(inFile) === true;
    const outcome = readSetting(name, setting, required, own ?? file?.values.get(inFile), {
      ...(isFromFile && { shownAs: `${inFile} in ${file.path}` }),
    });
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

/** The groups of a schema: those of its parts, or one with its own title. */
const groupsOf = (schema: ConfigSchema): readonly SettingGroup[] => {
  const { groups, title = 'Other settings' } = schema as unknown as Type.TSchemaOptions;
  return groups ?? [{ title, names: Object.keys(schema.properties) }];
};

/** One group for each title; a setting that several parts share stays in the first. */
const mergeGroups = (given: readonly SettingGroup[]): readonly SettingGroup[] => {
  const names = new Map<string, string[]>();
  const seen = new Set<string>();
  for (const group of given) {
    const listed = names.get(group.title) ?? [];
    names.set(group.title, listed);
    listed.push(...group.names.filter((name) => !seen.has(name)));
    for (const name of group.names) seen.add(name);
  }
  return [...names].map(([title, listed]) => ({ title, names: listed }));
};

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
  const groups = mergeGroups(schemas.flatMap(groupsOf));
  return Type.Object(properties, { groups }) as unknown as Type.TObject<Merged<S>>;
};

/** The settings as operators see them, in the order of their declaration. */
export const settingDescriptions = (schema: ConfigSchema): SettingDescription[] =>
  settingsOf(schema).map(({ name, setting, required }) => describeSetting(name, setting, required));

/**
 * Problems with files that the settings name, and with the file of settings if it contains secrets: every user of the
 * machine can read or change them.
 */
export const exposedSecrets = <S extends ConfigSchema>(
  schema: S,
  config: Config<S>,
  file?: SettingsFile & { readonly origin: string },
): readonly string[] => {
  const settings = settingDescriptions(schema);
  const values = config as Readonly<Record<string, unknown>>;
  const files = new Map<string, string>();
  for (const [at, name] of Object.keys(schema.properties).entries()) {
    const setting = settings[at];
    const value = values[name];
    if (setting?.secretFile === true && typeof value === 'string') files.set(setting.name, value);
    if (setting?.secret === true && file?.values.has(toFileName(name)) === true)
      files.set(file.origin, file.path);
  }
  return exposedFiles(files);
};

/** The mark behind the accepted values of settings with secrets. */
const secrecyOf = ({ secret, secretFile }: SettingDescription): string =>
  secret ? ' (secret)' : secretFile ? ' (private file)' : '';

const fallbackOf = (setting: SettingDescription): string => {
  if (setting.required) return 'required';
  if (setting.default === undefined) return 'not set';
  return setting.default === '' ? 'empty' : setting.default;
};

/** The settings by group, in the order of their declaration. */
const describedGroups = (schema: ConfigSchema) => {
  const settings = new Map(
    settingsOf(schema).map(({ name, setting, required }) => [
      name,
      describeSetting(name, setting, required),
    ]),
  );
  return groupsOf(schema)
    .map(({ title, names }) => ({
      title,
      settings: names.flatMap((name) => settings.get(name) ?? []),
    }))
    .filter((group) => group.settings.length > 0);
};

/** Text for `--help`. */
export const describeConfig = (schema: ConfigSchema): string =>
  describedGroups(schema)
    .map(({ title, settings }) => {
      const lines = settings.map(
        (setting) =>
          `  ${setting.name}${secrecyOf(setting)}\n` +
          `      ${setting.description}\n` +
          `      ${setting.accepts}; default: ${fallbackOf(setting)}\n`,
      );
      return `${title}\n\n${lines.join('\n')}`;
    })
    .join('\n');

/** Markdown tables, one for each group, for docs/configuration.md. */
export const configMarkdown = (schema: ConfigSchema): string =>
  describedGroups(schema)
    .map(({ title, settings }) =>
      [
        `### ${title}`,
        '',
        '| key | value | default | meaning |',
        '|---|---|---|---|',
        ...settings.map((setting) => {
          const cells = [
            `\`${setting.name}\``,
            setting.accepts + secrecyOf(setting),
            fallbackOf(setting),
            setting.description,
          ];
          return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
        }),
      ].join('\n'),
    )
    .join('\n\n');
