/** Values that the schema of a request body allows, so that errors are only those made on purpose. */
import type { Random } from '../random.ts';
import { type KnownResources, STATE } from './known-resources.ts';

export interface Schema {
  readonly type?: 'object' | 'array' | 'integer' | 'number' | 'boolean' | 'null' | 'string';
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** The service checks only this part of a key. */
export const PRIVATE_KEY = '-----BEGIN PRIVATE KEY-----';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Texts with a meaning, by attribute. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  email: ['a@b.example', 'user-1@keelson.example'],
  username: ['admin', 'user-1', 'user-2'],
  key: ['env', 'one', 'a-b', 'hc:x', 'TF_VAR_x'],
  value: ['prod', '', '["a"]', PRIVATE_KEY],
  category: ['terraform', 'env'],
  'runtime-version': ['1.11.4', '~> 1.0', 'latest', '>= 2.0', '1.5.7', '~>', '1.11.4-beta1'],
  'auto-destroy-at': ['2030-01-01T00:00:00Z', '2001-01-01T00:00:00Z'],
  'auto-destroy-activity-duration': ['14d', '1h', '0d'],
  'expired-at': ['2030-01-01T00:00:00Z', '2001-01-01T00:00:00Z'],
  'tags-regex': ['^v', '(', '(a+)+$'],
  'trigger-patterns': ['/**/*.tf', '[', '**/**/**/**/a'],
  'working-directory': ['', 'modules', '/a', '../..'],
  'service-provider': ['github', 'gitlab_hosted'],
  'http-url': ['https://github.example'],
  'api-url': ['https://api.github.example'],
  state: [base64(STATE), base64('{"serial":1}')],
  'json-state': [base64('{"format_version":"1.0"}')],
  md5: ['d41d8cd98f00b204e9800998ecf8427e'],
  lineage: ['0b0c6c4a-0000-4000-8000-000000000001'],
};

const textFor = (name: string, known: KnownResources, random: Random): string => {
  if (name === 'id' || name.endsWith('-id')) return known.anyId(random);
  if (name === 'name') return `made-${random.below(2 ** 32).toString(36)}`;
  const texts = TEXTS[name];
  return texts === undefined ? random.pick(['a', 'text', '1']) : random.pick(texts);
};

/** Schemas with null in them give it now and then. */
const pickVariant = (variants: readonly Schema[], random: Random): Schema => {
  const filled = variants.filter(({ type }) => type !== 'null');
  return random.once(12) || filled.length === 0 ? random.pick(variants) : random.pick(filled);
};

/** An id next to a type is an id of that type. */
const typeOf = (properties: Readonly<Record<string, Schema>>): string | undefined => {
  const { type } = properties;
  const given = type?.const ?? type?.anyOf?.[0]?.const;
  return typeof given === 'string' ? given : undefined;
};

/** @param name of the attribute that the value is for */
export const valueFor = (
  schema: Schema,
  name: string,
  known: KnownResources,
  random: Random,
): unknown => {
  if (schema.const !== undefined) return schema.const;
  if (schema.anyOf !== undefined)
    return valueFor(pickVariant(schema.anyOf, random), name, known, random);
  const { type: kind = 'string' } = schema;
  switch (kind) {
    case 'object': {
      const { properties = {}, required = [] } = schema;
      const type = typeOf(properties);
      const entries = Object.entries(properties)
        // Few at once, so that most documents are not refused for mutually exclusive attributes.
        .filter(([one]) => required.includes(one) || one === 'relationships' || random.once(4))
        .map(([one, inner]): [string, unknown] => [
          one,
          one === 'id' && type !== undefined
            ? known.idOf(type, random)
            : valueFor(inner, one, known, random),
        ]);
      return Object.fromEntries(entries);
    }
    case 'array': {
      const { items = {} } = schema;
      return Array.from({ length: random.below(4) }, () => valueFor(items, name, known, random));
    }
    case 'integer':
    case 'number': {
      const { minimum = 0, maximum = 1000 } = schema;
      return minimum + random.below(Math.min(maximum - minimum + 1, 100));
    }
    case 'boolean':
      return random.once(2);
    case 'null':
      return null;
    case 'string':
      return textFor(name, known, random);
  }
};
