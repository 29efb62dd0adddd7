/**
 * The environment name, description and parser of one declared setting. Names follow one rule (`dataDir` is
 * `KEELSON_DATA_DIR`), so that no table of names is needed.
 */
import type { Type } from 'typebox';
import { Check } from 'typebox/schema';

/** Schema keywords of settings, in addition to those of typebox. */
declare module 'typebox' {
  interface TSchemaOptions {
    /** Whether the value is hidden in errors, --help and logs. */
    secret?: boolean;
    /** Whether the value names a file with a secret, which only its owner and group may read. */
    secretFile?: boolean;
    /** Complete names under which other products know the setting; the first that is set is used. */
    aliases?: readonly string[];
    /** Names, in camel case, that people try in place of the setting's own; they are answered with its name. */
    mistakenFor?: readonly string[];
  }
}

export const PREFIX = 'KEELSON_';

/** `dataDir` -> `KEELSON_DATA_DIR`. */
export const toEnvironmentName = (name: string): string =>
  PREFIX + name.replaceAll(/[A-Z]|(?<=[a-z])\d/g, (mark) => `_${mark}`).toUpperCase();

/** The JSON Schema keywords of settings that this library interprets. */
interface Keywords {
  readonly type?: string;
  readonly const?: string | number | boolean;
  readonly anyOf?: readonly Keywords[];
  readonly items?: Keywords;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly default?: unknown;
  readonly description?: string;
  readonly secret?: boolean;
  readonly secretFile?: boolean;
  readonly aliases?: readonly string[];
  readonly mistakenFor?: readonly string[];
}

const keywords = (schema: Type.TSchema): Keywords => schema as Keywords;

/** Parses a value from the environment; undefined if the text is invalid. */
const toValue = (schema: Keywords, text: string): unknown => {
  if (schema.anyOf !== undefined)
    return schema.anyOf
      .map((alternative) => toValue(alternative, text))
      .find((value) => value !== undefined && Check(schema, value));
  if (schema.const !== undefined) return text === String(schema.const) ? schema.const : undefined;
  switch (schema.type ?? 'string') {
    case 'integer':
    case 'number':
      return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
    case 'boolean':
      return { true: true, '1': true, false: false, '0': false }[text.toLowerCase()];
    case 'array':
      return text.split(',').map((item) => toValue(schema.items ?? {}, item.trim()));
    default:
      return text;
  }
};

const range = ({ minimum, maximum }: Keywords): string => {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` of at least ${minimum}`;
  return maximum === undefined ? '' : ` of at most ${maximum}`;
};

/** Description of the allowed values, placed after "must be" in a message. */
const expectation = (schema: Keywords): string => {
  if (schema.anyOf !== undefined) return schema.anyOf.map(expectation).join(' or ');
  if (schema.const !== undefined) return `"${String(schema.const)}"`;
  switch (schema.type ?? 'string') {
    case 'integer':
      return `a whole number${range(schema)}`;
    case 'number':
      return `a number${range(schema)}`;
    case 'boolean':
      return 'true or false';
    case 'array':
      return `a comma-separated list, each item ${expectation(schema.items ?? {})}`;
    default:
      return schema.pattern === undefined ? 'text' : `text that matches ${schema.pattern}`;
  }
};

const toText = (value: unknown): string =>
  Array.isArray(value) ? value.join(',') : String(value as string | number | boolean);

/** Names in the environment, Keelson's own first. */
export const environmentNames = (name: string, schema: Type.TSchema): readonly string[] => [
  toEnvironmentName(name),
  ...(keywords(schema).aliases ?? []),
];

/** Names, in camel case, that people try in place of the setting's own. */
export const mistakenNames = (schema: Type.TSchema): readonly string[] =>
  keywords(schema).mistakenFor ?? [];

/** A setting as shown to operators. */
export interface SettingDescription {
  /** Name in the environment. */
  readonly name: string;
  readonly accepts: string;
  /** Text of the default; undefined when there is none. */
  readonly default: string | undefined;
  readonly required: boolean;
  readonly secret: boolean;
  readonly secretFile: boolean;
  readonly description: string;
}

export const describeSetting = (
  name: string,
  schema: Type.TSchema,
  required: boolean,
): SettingDescription => {
  const {
    default: fallback,
    description = '',
    secret,
    secretFile,
    aliases = [],
  } = keywords(schema);
  return {
    name: toEnvironmentName(name),
    accepts: expectation(keywords(schema)),
    default: fallback === undefined ? undefined : toText(fallback),
    required: required && fallback === undefined,
    secret: secret ?? false,
    secretFile: secretFile ?? false,
    description:
      aliases.length === 0 ? description : `${description} Also read from ${aliases.join(', ')}.`,
  };
};

export type SettingOutcome =
  | { readonly value: unknown; readonly problem?: never }
  | { readonly problem: string };

/**
 * The text without what stands before its last `@`, where a URL has a name and a password. The text was
 * refused, so it is not read as a URL.
 */
const withoutUserInfo = (text: string): string =>
  text.replace(/^([a-z][a-z\d+.-]*:\/\/)?.*@/is, '$1***@');

/** Reads one setting; an empty text counts as absent. `shownAs` replaces its name in a problem. */
export const readSetting = (
  name: string,
  schema: Type.TSchema,
  required: boolean,
  text: string | undefined,
  { shownAs }: { readonly shownAs?: string } = {},
): SettingOutcome => {
  const setting = describeSetting(name, schema, required);
  if (text === undefined || text === '')
    return setting.required
      ? { problem: `${setting.name} must be set: ${setting.description}` }
      : { value: keywords(schema).default };
  const value = toValue(keywords(schema), text);
  if (value !== undefined && Check(schema, value)) return { value };
  const shown = setting.secret ? '' : `, not "${withoutUserInfo(text)}"`;
  return { problem: `${shownAs ?? setting.name} must be ${setting.accepts}${shown}.` };
};
