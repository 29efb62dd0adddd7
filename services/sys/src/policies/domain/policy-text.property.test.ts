import { KeelsonError } from '@keelson/errors';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePolicyText } from './policy-text.ts';

const parse = (text: string) =>
  parsePolicyText(text, (duration) => (duration === '1m' ? 60 : undefined));

const policy = fc.dictionary(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }).filter((path) => !path.includes('+*')),
  fc.record(
    {
      capabilities: fc.array(fc.constantFrom('read', 'list', 'update', 'sudo'), { maxLength: 3 }),
      required_parameters: fc.array(fc.string()),
      // Names that differ only in case would be the same parameter twice, which is refused.
      allowed_parameters: fc
        .dictionary(
          fc.string({ unit: 'binary' }),
          fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.boolean())),
        )
        .filter((lists) => {
          const names = Object.keys(lists);
          return new Set(names.map((name) => name.toLowerCase())).size === names.length;
        }),
      max_wrapping_ttl: fc.nat(),
    },
    { requiredKeys: ['capabilities'] },
  ),
);

/** The JSON form of a string is also a quoted string in HCL. */
const quote = (text: string): string => JSON.stringify(text);

const toHcl = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(toHcl).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{\n${Object.entries(value)
      .map(([key, inner]) => `  ${quote(key)} = ${toHcl(inner)}`)
      .join('\n')}\n}`;
  }
  return typeof value === 'string' ? quote(value) : String(value);
};

test('the same policy written in HCL and in JSON has the same rules', () => {
  fc.assert(
    fc.property(policy, (paths) => {
      const hcl = Object.entries(paths)
        .map(([path, body]) => `path ${quote(path)} ${toHcl(body)}`)
        .join('\n');
      expect(parse(hcl)).toEqual(parse(JSON.stringify({ path: paths })));
    }),
    { numRuns: 500 },
  );
});

const outcomeOf = (text: string): string => {
  try {
    parse(text);
    return 'rules';
  } catch (error) {
    return error instanceof KeelsonError ? error.code : String(error);
  }
};

test('any text is parsed to rules or refused with a reason', () => {
  const fragment = fc.constantFrom(
    'path',
    '"a"',
    '{',
    '}',
    '[',
    ']',
    '=',
    ',',
    '<<E\n',
    'E\n',
    '#',
    '/*',
    '"',
    '\\',
    '1',
    '+',
    'true',
    '\n',
    'capabilities',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.array(fragment).map((parts) => parts.join(' ')),
      ),
      (text) => {
        expect(outcomeOf(text)).toMatch(/^(?:rules|sys\.policy_unparsable)$/);
      },
    ),
    { numRuns: 5000 },
  );
});
