/** Values that the schema of a request body allows, so that errors are only those made on purpose. */
import fc from 'fast-check';
import { choice, oneIn, weighted } from '../malformed.ts';
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

const textFor = (name: string, known: KnownResources): fc.Arbitrary<string> => {
  if (name === 'id' || name.endsWith('-id')) return known.anyId();
  if (name === 'name') return choice.map((number) => `made-${number.toString(36)}`);
  return fc.constantFrom(...(TEXTS[name] ?? ['a', 'text', '1']));
};

/** An id next to a type is an id of that type. */
const typeOf = (properties: Readonly<Record<string, Schema>>): string | undefined => {
  const { type } = properties;
  const given = type?.const ?? type?.anyOf?.[0]?.const;
  return typeof given === 'string' ? given : undefined;
};

const ABSENT = fc.constant(undefined);

/** @param name of the attribute that the value is for */
export const valueFor = (
  schema: Schema,
  name: string,
  known: KnownResources,
): fc.Arbitrary<unknown> => {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.anyOf !== undefined)
    return weighted(
      ...schema.anyOf.map(
        (one) => [one.type === 'null' ? 1 : 11, valueFor(one, name, known)] as const,
      ),
    );
  const { type: kind = 'string' } = schema;
  switch (kind) {
    case 'object': {
      const { properties = {}, required = [] } = schema;
      const type = typeOf(properties);
      const members = Object.entries(properties).map(([one, inner]) => {
        const value =
          one === 'id' && type !== undefined ? known.idOf(type) : valueFor(inner, one, known);
        // Few at once, so that most documents are not refused for mutually exclusive attributes.
        const isNeeded = required.includes(one) || one === 'relationships';
        return [one, isNeeded ? value : oneIn(4, value, ABSENT)] as const;
      });
      return fc.record(Object.fromEntries(members));
    }
    case 'array':
      return fc.array(valueFor(schema.items ?? {}, name, known), { maxLength: 3 });
    case 'integer':
    case 'number': {
      const { minimum = 0, maximum = 1000 } = schema;
      return fc.nat(Math.min(maximum - minimum, 99)).map((above) => minimum + above);
    }
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'string':
      return textFor(name, known);
  }
};
