import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Acl, mergePolicies, type NamedPolicy } from './acl.ts';
import { CAPABILITY_BITS, type Capability, toCapabilitySet } from './capabilities.ts';
import { permitsParameters } from './parameter-rules.ts';
import { parsePathPattern } from './path-pattern.ts';
import type { WrittenRule } from './policy-text.ts';

const segment = fc.constantFrom('a', 'b', 'ab', 'c', '');
const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const patternText = fc
  .tuple(
    fc.array(fc.oneof(segment, fc.constant('+')), { minLength: 1, maxLength: 4 }),
    fc.boolean(),
  )
  .map(([parts, star]) => (star && parts.at(-1) !== '+' ? `${parts.join('/')}*` : parts.join('/')))
  .filter((text) => !text.startsWith('/'));
const capabilities = fc
  .uniqueArray(
    fc.constantFrom<Capability>(
      'create',
      'read',
      'update',
      'delete',
      'list',
      'sudo',
      'patch',
      'deny',
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map(toCapabilitySet);
const lists = fc.option(
  fc
    .dictionary(
      fc.constantFrom('x', 'y', '*'),
      fc.array(fc.constantFrom('1', '2'), { maxLength: 2 }),
    )
    .map((lists) => new Map(Object.entries(lists))),
  { nil: undefined },
);
const rule: fc.Arbitrary<WrittenRule> = fc.record({
  path: patternText,
  capabilities,
  parameters: fc.record({
    required: fc.uniqueArray(fc.constantFrom('x', 'y')).map((names) => new Set(names)),
    allowed: lists,
    denied: lists,
  }),
  minWrappingTtlSeconds: fc.constantFrom(0, 5, 10),
  maxWrappingTtlSeconds: fc.constantFrom(0, 20, 30),
});
const policies: fc.Arbitrary<NamedPolicy[]> = fc
  .array(fc.array(rule, { maxLength: 8 }), { maxLength: 4 })
  .map((all) => all.map((rules, index) => ({ name: `p${index}`, rules })));

const aclOf = (all: readonly NamedPolicy[]) => new Acl(mergePolicies(all, undefined));

/** Reference matching of one pattern by a regular expression, as the policy language describes it. */
const matches = (text: string, candidate: string): boolean => {
  const star = text.endsWith('*');
  const stem = star ? text.slice(0, -1) : text;
  const body = stem
    .split('/')
    .map((part) => (part === '+' ? '[^/]*' : part))
    .join('/');
  return new RegExp(`^${body}${star ? '.*' : ''}$`).test(candidate);
};

/** Sort key of the priority rules in their order, each as "greater wins". */
const priorityKey = (text: string): [number, number, number, number, string] => {
  const stem = text.endsWith('*') ? text.slice(0, -1) : text;
  const parts = stem.split('/');
  const plus = parts.indexOf('+');
  const first = plus < 0 ? stem.length : parts.slice(0, plus).join('/').length + (plus > 0 ? 1 : 0);
  const pluses = parts.filter((part) => part === '+').length;
  return [first, text.endsWith('*') ? 0 : 1, -pluses, stem.length, stem];
};

const bestByHand = (texts: readonly string[], candidate: string): string | undefined => {
  const matching = texts.filter((text) => matches(text, candidate));
  const exact = matching.find((text) => parsePathPattern(text).kind === 'exact');
  if (exact !== undefined) return exact;
  return matching.sort((a, b) => {
    const [ka, kb] = [priorityKey(a), priorityKey(b)];
    for (const [index, value] of ka.entries()) {
      const other = kb[index] as typeof value;
      if (value !== other) return value > other ? -1 : 1;
    }
    return 0;
  })[0];
};

describe('access rules', () => {
  test('the matching rule is the one an exhaustive search finds', () => {
    fc.assert(
      fc.property(policies, path, (all, candidate) => {
        const texts = [...new Set(all.flatMap(({ rules }) => rules.map((one) => one.path)))];
        expect(aclOf(all).ruleFor(candidate)?.pattern.text).toBe(bestByHand(texts, candidate));
      }),
      { numRuns: 3000 },
    );
  });

  test('the order of policies and of rules changes nothing', () => {
    fc.assert(
      fc.property(
        policies,
        path,
        fc.dictionary(fc.constantFrom('x', 'y'), fc.constantFrom('1', '2', '3')),
        (all, candidate, parameters) => {
          const turned = all.toReversed().map((one) => ({ ...one, rules: one.rules.toReversed() }));
          const decision = (policies: readonly NamedPolicy[]) => {
            const found = aclOf(policies).ruleFor(candidate);
            return (
              found && {
                ...found,
                parameters: permitsParameters(found.parameters, parameters),
              }
            );
          };
          expect(decision(turned)).toEqual(decision(all));
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('a deny for a path overrides every other grant on it', () => {
    fc.assert(
      fc.property(policies, patternText, path, (all, text, candidate) => {
        const deny: WrittenRule = {
          path: text,
          capabilities: CAPABILITY_BITS.deny,
          parameters: { required: new Set(), allowed: undefined, denied: undefined },
          minWrappingTtlSeconds: 0,
          maxWrappingTtlSeconds: 0,
        };
        const found = aclOf([...all, { name: 'deny', rules: [deny] }]).ruleFor(candidate);
        fc.pre(found?.pattern.text === text);
        expect(found?.capabilities).toBe(CAPABILITY_BITS.deny);
      }),
    );
  });

  test('a path that no rule matches has no rule', () => {
    fc.assert(
      fc.property(policies, path, (all, candidate) => {
        const texts = all.flatMap(({ rules }) => rules.map((one) => one.path));
        fc.pre(!texts.some((text) => matches(text, candidate)));
        expect(aclOf(all).capabilitiesOn(candidate) === 0 || candidate.endsWith('/')).toBe(true);
        expect(aclOf(all).ruleFor(candidate)).toBeUndefined();
      }),
    );
  });

  test('LIST reaches the rule of the path without its trailing slash', () => {
    const acl = aclOf([
      {
        name: 'p',
        rules: [
          {
            path: 'kv/meta',
            capabilities: CAPABILITY_BITS.list,
            parameters: { required: new Set(), allowed: undefined, denied: undefined },
            minWrappingTtlSeconds: 0,
            maxWrappingTtlSeconds: 0,
          },
        ],
      },
    ]);
    expect(acl.ruleFor('kv/meta/', true)?.pattern.text).toBe('kv/meta');
    expect(acl.ruleFor('kv/meta/')).toBeUndefined();
  });
});
