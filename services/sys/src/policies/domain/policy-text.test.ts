import { describe, expect, test } from 'vitest';
import { mergePolicies } from './acl.ts';
import { CAPABILITY_BITS, toCapabilitySet } from './capabilities.ts';
import { DEFAULT_POLICY_TEXT, RESPONSE_WRAPPING_POLICY_TEXT } from './default-policy.ts';
import { parsePolicyText } from './policy-text.ts';

const parse = (text: string) =>
  parsePolicyText(text, (duration) => (duration === '1m' ? 60 : undefined));

const HCL = `
# comment
path "/secret/foo" { // another
  capabilities = ["create", "read",]
  required_parameters = ["Title"]
  allowed_parameters = { "ttl" = ["1h", 2, true], zip = [] }
  denied_parameters = {
    "bad" = []
    "worse" = ["a*"]
  }
  min_wrapping_ttl = "1m"
  max_wrapping_ttl = 90
} /* multi
line */
path "kv/*" { policy = "read" }`;

const JSON_TEXT = JSON.stringify({
  path: {
    '/secret/foo': {
      capabilities: ['create', 'read'],
      required_parameters: ['Title'],
      allowed_parameters: { ttl: ['1h', 2, true], zip: [] },
      denied_parameters: { bad: [], worse: ['a*'] },
      min_wrapping_ttl: '1m',
      max_wrapping_ttl: 90,
    },
    'kv/*': { policy: 'read' },
  },
});

describe('policy texts', () => {
  test('HCL and JSON of one policy have the same rules', () => {
    expect(parse(HCL)).toEqual(parse(JSON_TEXT));
    expect(parse(HCL)).toEqual([
      {
        path: 'secret/foo',
        capabilities: toCapabilitySet(['create', 'read']),
        parameters: {
          required: new Set(['title']),
          allowed: new Map<string, unknown[]>([
            ['ttl', ['1h', 2, true]],
            ['zip', []],
          ]),
          denied: new Map([
            ['bad', []],
            ['worse', ['a*']],
          ]),
        },
        minWrappingTtlSeconds: 60,
        maxWrappingTtlSeconds: 90,
      },
      {
        path: 'kv/*',
        capabilities: toCapabilitySet(['read', 'list']),
        parameters: { required: new Set(), allowed: undefined, denied: undefined },
        minWrappingTtlSeconds: 0,
        maxWrappingTtlSeconds: 0,
      },
    ]);
  });

  test('a deny among capabilities removes the others', () => {
    expect(parse('path "a" { capabilities = ["read", "deny"] }')[0]?.capabilities).toBe(
      CAPABILITY_BITS.deny,
    );
  });

  test('the deprecated word adds to the given capabilities, and deny removes all others', () => {
    const granted = (text: string) => parse(text)[0]?.capabilities;
    expect(granted('path "a" { policy = "deny" capabilities = ["read"] }')).toBe(
      CAPABILITY_BITS.deny,
    );
    expect(granted('path "a" { policy = "read" capabilities = ["deny"] }')).toBe(
      CAPABILITY_BITS.deny,
    );
    expect(granted('path "a" { policy = "read" capabilities = ["update"] }')).toBe(
      toCapabilitySet(['read', 'list', 'update']),
    );
  });

  test.for([
    '{"path": {"a": {"policy": "deny"}, "a": {"policy": "read"}}}',
    '{"path": {"a": {"policy": "deny"}}, "path": {"a": {"capabilities": ["read"]}}}',
    '{"path": [{"a": {"policy": "deny"}}, {"a": {"policy": "read"}}]}',
    'path "a" { policy = "deny" }\npath "a" { policy = "read" }',
  ])('each rule of a repeated path counts: %s', (text) => {
    const rules = parse(text);
    expect(rules.map(({ path }) => path)).toEqual(['a', 'a']);
    const [merged] = mergePolicies([{ name: 'p', rules }], undefined);
    expect(merged?.capabilities).toBe(CAPABILITY_BITS.deny);
  });

  test('JSON escapes are parsed', () => {
    const text = String.raw`{"path": {"a\/b\u00e4\ud83d\ude00": {"policy": "read"}}}`;
    expect(parse(text)[0]?.path).toBe('a/bä😀');
  });

  test('a heredoc, escapes and an empty text are parsed', () => {
    expect(parse('')).toEqual([]);
    expect(
      parse('path "a\\u002fb" {\n policy = "read"\n comment = <<-END\n  text\n  END\n}'),
    ).toHaveLength(1);
  });

  test('a heredoc with very many lines, and very many heredocs are parsed', () => {
    const lines = '  x\n'.repeat(200_000);
    expect(parse(`path "a" {\n policy = "read"\n comment = <<-A\n${lines}A\n}`)).toHaveLength(1);
    const list = '<<A\nA\n,'.repeat(100_000);
    expect(parse(`path "a" {\n policy = "read"\n comment = [${list}]\n}`)).toHaveLength(1);
  });

  test('the built-in texts are valid policies', () => {
    expect(parse(DEFAULT_POLICY_TEXT).length).toBeGreaterThan(10);
    expect(parse(RESPONSE_WRAPPING_POLICY_TEXT)).not.toHaveLength(0);
  });

  test.for<[string, string, RegExp]>([
    ['an unknown capability', 'path "a" { capabilities = ["fly"] }', /invalid capability "fly"/],
    ['an unknown key', 'path "a" { colour = "red" }', /invalid key "colour" on line 1/],
    ['an unknown top-level key', 'rule "a" { }', /invalid key "rule" on line 1/],
    [
      '+* wildcards',
      'path "a/+*" { policy = "read" }',
      /path "a\/\+\*": invalid use of wildcards \('\+\*' is forbidden\)/,
    ],
    ['an unknown word', 'path "a" { policy = "fly" }', /invalid policy "fly"/],
    ['an attribute given twice', 'path "a" { policy = "read" policy = "deny" }', /given twice/],
    [
      'an attribute given twice in JSON',
      '{"path": {"a": {"capabilities": ["deny"], "capabilities": ["read"]}}}',
      /given twice/,
    ],
    [
      'a parameter given twice',
      'path "a" { denied_parameters = { "x" = [], "X" = ["1"] } }',
      /denied_parameters: "X" is given twice/,
    ],
    ['an unclosed block', 'path "a" { policy = "read"', /expected a key/],
    ['an unclosed list', 'path "a" { capabilities = ["read"', /expected "," or "]"/],
    ['an unclosed string', 'path "a', /unexpected character/],
    ['an expression', 'path "a" { policy = foo }', /unexpected word "foo"/],
    [
      'deep nesting',
      `path "a" { allowed_parameters = { x = ${'['.repeat(40)}${']'.repeat(40)} } }`,
      /nested deeper/,
    ],
    ['bad JSON', '{"path": ', /invalid JSON/],
    ['JSON null', '{"path": {"a": null}}', /null/],
    [
      'wrapping limits that contradict',
      'path "a" { min_wrapping_ttl = 9 max_wrapping_ttl = 3 }',
      /cannot be less/,
    ],
    ['a safeguard that does not exist here', 'path "a" { mfa_methods = ["duo"] }', /not supported/],
    ['a text over the limit', `path "${'a'.repeat(1024 * 1024)}" { }`, /longer than/],
  ])('refuses %s', ([, text, reason]) => {
    expect(() => parse(text)).toThrow(reason);
    expect(() => parse(text)).toThrow(/^failed to parse policy: /);
  });
});
