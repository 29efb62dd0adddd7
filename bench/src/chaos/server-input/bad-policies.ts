/** Invalid policy texts, and requests that accepted policies decide. */
import type { Random } from '../random.ts';

const CAPABILITIES = [
  'create',
  'read',
  'update',
  'patch',
  'delete',
  'list',
  'sudo',
  'deny',
  'subscribe',
  'root',
  '',
  'READ',
];
const PATHS = [
  'sys/*',
  'pki/issue/+',
  'pki/+/+/*',
  '+/+',
  '*',
  '',
  '/',
  '//',
  'a*b',
  '+*',
  '../sys',
  'identity/{{identity.entity.id}}/*',
  '{{identity.groups.ids.x.name}}',
  '{{',
  '}}',
  '{{{{a}}}}',
  'x'.repeat(3000),
  '+/'.repeat(300),
  '\0',
  '🂡/*',
];
const VALUES = [
  '[]',
  '["*"]',
  '["a", 1, true, null]',
  '{}',
  '"x"',
  '-1',
  '1e999',
  'true',
  'null',
  '<<EOT\nx\nEOT',
  '[[',
  '{ a = { b = [1] } }',
];
const FRAGMENTS = [
  'path',
  '"',
  '{',
  '}',
  '[',
  ']',
  '=',
  ':',
  ',',
  '\n',
  '#',
  '//',
  '/*',
  '*/',
  '<<E\n',
  'E\n',
  '\\u0000',
  '\\x',
  '${',
  '}}',
  '\0',
  '\ufeff',
  'capabilities',
  '0x',
  '-',
];
const PARAMETERS = [
  'allowed_parameters',
  'denied_parameters',
  'required_parameters',
  'min_wrapping_ttl',
  'max_wrapping_ttl',
  'control_group',
  'mfa_methods',
  'policy',
  'expiration',
  'nonsense',
  '__proto__',
];

const quoted = (text: string): string => JSON.stringify(text);

const some = <T>(random: Random, make: () => T): T[] =>
  Array.from({ length: random.below(4) }, make);

const rule = (random: Random): string => {
  const capabilities = some(random, () => quoted(random.pick(CAPABILITIES))).join(', ');
  const rest = some(random, () => `  ${random.pick(PARAMETERS)} = ${random.pick(VALUES)}`).join(
    '\n',
  );
  return `path ${quoted(random.pick(PATHS))} {\n  capabilities = [${capabilities}]\n${rest}\n}`;
};

const asJson = (random: Random): string => {
  const rules = some(random, () => [
    random.pick([...PATHS, '__proto__', 'constructor']),
    random.once(5)
      ? random.pick(VALUES)
      : { capabilities: some(random, () => random.pick(CAPABILITIES)) },
  ]);
  return JSON.stringify({ [random.once(8) ? 'paths' : 'path']: Object.fromEntries(rules) });
};

const damage = (text: string, random: Random): string => {
  const at = random.below(text.length + 1);
  const put = some(random, () => random.pick(FRAGMENTS)).join('');
  return text.slice(0, at) + put + text.slice(at + random.below(6));
};

const nested = (random: Random): string =>
  random.pick(['{ a = ', '[', '(', '"${']).repeat(random.pick([10, 1000, 20_000]));

export const policyText = (random: Random): string => {
  if (random.once(40)) return `path "a" ${nested(random)}`;
  if (random.once(20))
    return some(random, () => random.pick(FRAGMENTS))
      .join(' ')
      .repeat(random.below(50));
  const text = random.once(4) ? asJson(random) : some(random, () => rule(random)).join('\n');
  return random.once(2) ? damage(text, random) : text;
};

/** A path to request, as a policy might match it. */
export const requestedPath = (random: Random): string =>
  random.pick([...PATHS, 'sys/mounts', 'pki/issue/web', 'pki/a/b/c', 'a/b', 'identity/x/y']);
