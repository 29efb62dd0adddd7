/** Invalid policy texts, and requests that accepted policies decide. */
import fc from 'fast-check';
import { damaged, textDamageWith, usually, weighted } from '../malformed.ts';

const CAPABILITIES = 'create read update patch delete list sudo deny subscribe root READ '.split(
  ' ',
);
const PATHS = [
  ...'sys/* pki/issue/+ pki/+/+/* +/+ * / // a*b +* ../sys 🂡/* \0 {{ }} {{{{a}}}} '.split(' '),
  'identity/{{identity.entity.id}}/*',
  '{{identity.groups.ids.x.name}}',
  'x'.repeat(3000),
  '+/'.repeat(300),
];
const VALUES = [
  ...'[] ["*"] {} "x" -1 1e999 true null <<EOT\nx\nEOT [['.split(' '),
  '["a", 1, true, null]',
  '{ a = { b = [1] } }',
];
const FRAGMENTS = [
  ...'path " { } [ ] = : , \n # // /* */ <<E\n E\n \\u0000 \\x ${ }} \0 \ufeff'.split(' '),
  ...'capabilities 0x -'.split(' '),
];
const PARAMETERS = `allowed_parameters denied_parameters required_parameters min_wrapping_ttl
  max_wrapping_ttl control_group mfa_methods policy expiration nonsense __proto__`.split(/\s+/);

const some = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(one, { maxLength: 3 });
const capabilities = some(fc.constantFrom(...CAPABILITIES));
const fragments = some(fc.constantFrom(...FRAGMENTS));
const value = fc.constantFrom(...VALUES);

const rule = fc
  .tuple(
    fc.constantFrom(...PATHS),
    capabilities,
    some(fc.tuple(fc.constantFrom(...PARAMETERS), value)),
  )
  .map(([path, allowed, others]) =>
    [
      `path ${JSON.stringify(path)} {`,
      `  capabilities = [${allowed.map((one) => JSON.stringify(one)).join(', ')}]`,
      ...others.map(([name, given]) => `  ${name} = ${given}`),
      '}',
    ].join('\n'),
  );

const asJson = fc
  .tuple(
    usually('path', 8, ['paths']),
    some(
      fc.tuple(
        fc.constantFrom(...PATHS, '__proto__', 'constructor'),
        weighted<unknown>([1, value], [4, fc.record({ capabilities })]),
      ),
    ),
  )
  .map(([name, rules]) => JSON.stringify({ [name]: Object.fromEntries(rules) }));

const nested = fc
  .tuple(fc.constantFrom('{ a = ', '[', '(', '"${'), fc.constantFrom(10, 1000, 20_000))
  .map(([opening, depth]) => `path "a" ${opening.repeat(depth)}`);

const text = weighted([1, asJson], [3, some(rule).map((rules) => rules.join('\n'))]);

export const policyText: fc.Arbitrary<string> = weighted(
  [1, nested],
  [2, fc.tuple(fragments, fc.nat(49)).map(([parts, times]) => parts.join(' ').repeat(times))],
  [37, damaged(text, textDamageWith(fragments.map((parts) => parts.join(''))), 2)],
);

/** A path to request, as a policy might match it. */
export const requestedPath: fc.Arbitrary<string> = fc.constantFrom(
  ...PATHS,
  'sys/mounts',
  'pki/issue/web',
  'pki/a/b/c',
  'a/b',
  'identity/x/y',
);
