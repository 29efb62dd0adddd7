import { describe, expect, test } from 'vitest';
import { acceptsName, expandTemplates } from './name-acceptance.ts';
import type { Role } from './role.ts';

const ANN = { 'identity.entity.name': 'ann', 'identity.entity.metadata.team': 'web' };

describe('templates of a role', () => {
  test.for<readonly [string, Readonly<Record<string, string>> | undefined, readonly string[]]>([
    ['{{identity.entity.name}}.example.com', ANN, ['ann.example.com']],
    ['{{ identity.entity.name }}-{{identity.entity.metadata.team}}.x', ANN, ['ann-web.x']],
    // Without an identity, templates are left as they are.
    ['{{identity.entity.name}}.x', undefined, ['{{identity.entity.name}}.x']],
    // A value that is not there, or would widen the rule, takes its entry away.
    ['{{identity.entity.metadata.city}}.x', ANN, []],
    ['{{identity.entity.name}}.x', { 'identity.entity.name': '*' }, []],
    ['plain.example.com', ANN, ['plain.example.com']],
  ])('%s for %o is %o', ([entry, values, expanded]) => {
    expect(expandTemplates([entry], values)).toEqual(expanded);
  });

  test('apply to names only if the role says that its domains are templates', () => {
    const role = {
      allowedDomains: ['{{identity.entity.name}}.example.com'],
      allowedDomainsTemplate: true,
      allowBareDomains: true,
      enforceHostnames: true,
      allowWildcardCertificates: true,
    } as unknown as Role;
    expect(acceptsName(role, 'ann.example.com', ANN)).toBe(true);
    expect(acceptsName(role, 'eve.example.com', ANN)).toBe(false);
    expect(acceptsName(role, 'ann.example.com', undefined)).toBe(false);
    expect(acceptsName({ ...role, allowedDomainsTemplate: false }, 'ann.example.com', ANN)).toBe(
      false,
    );
  });
});
