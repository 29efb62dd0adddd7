import { describe, expect, test } from 'vitest';
import { decidingRules, rulesIn } from '../src/browser/policies/deciding-rules.ts';

const TEXT = `
# path "commented/out" { capabilities = ["read"] }
path "pki/*" { capabilities = ["read", "list"] }
path "/pki/issue/+" {
  capabilities = ["update"]
}
path "pki/issue/mail" { capabilities = ["deny"] }
`;

describe('the rules that cover a path', () => {
  const rules = rulesIn('web', TEXT);

  test('are read from the text of a policy, without its comments', () => {
    expect(rules.map(({ path, capabilities }) => [path, capabilities])).toEqual([
      ['pki/*', ['read', 'list']],
      ['pki/issue/+', ['update']],
      ['pki/issue/mail', ['deny']],
    ]);
  });

  test.for([
    ['pki/issue/mail', ['pki/issue/mail', 'pki/issue/+', 'pki/*']],
    ['/pki/issue/web', ['pki/issue/+', 'pki/*']],
    ['pki/issue/web/more', ['pki/*']],
    ['pki', []],
    ['commented/out', []],
  ] as const)('of %s are %j, the strongest first', ([path, expected]) => {
    expect(decidingRules(rules, path).map((rule) => rule.path)).toEqual(expected);
  });
});
