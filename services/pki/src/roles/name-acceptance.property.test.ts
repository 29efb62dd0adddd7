import { readFields } from '@keelson/secrets-api';
import { propertySettings } from '@keelson/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { acceptsCommonName, acceptsName } from './domain/name-acceptance.ts';
import type { Role } from './domain/role.ts';
import { ROLE_FIELDS, type RoleParameters, toRole } from './role-parameters.ts';

const role = (changes: Partial<Role> = {}): Role => ({
  ...toRole(readFields(ROLE_FIELDS, {}) as RoleParameters),
  allowedDomains: ['example.com'],
  ...changes,
});

const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/);
const host = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));

describe('names that a role allows', () => {
  test.for<readonly [string, Partial<Role>, boolean]>([
    ['example.com', {}, false],
    ['example.com', { allowBareDomains: true }, true],
    ['EXAMPLE.com', { allowBareDomains: true }, true],
    ['me@example.com', { allowBareDomains: true }, true],
    ['me@sub.example.com', { allowSubdomains: true }, true],
    ['a.example.com', { allowBareDomains: true }, false],
    ['a.example.com', { allowSubdomains: true }, true],
    ['example.com', { allowSubdomains: true }, false],
    ['a.EXAMPLE.com', { allowSubdomains: true }, false],
    ['notexample.com', { allowSubdomains: true }, false],
    ['*.example.com', { allowSubdomains: true }, true],
    ['f*o.example.com', { allowSubdomains: true }, true],
    ['*.*.example.com', { allowSubdomains: true }, false],
    ['a.*.example.com', { allowSubdomains: true }, false],
    ['*', { allowAnyName: true, enforceHostnames: false }, false],
    ['*.example.com', { allowAnyName: true, allowWildcardCertificates: false }, false],
    ['me@*.example.com', { allowAnyName: true }, false],
    ['a@b@example.com', { allowAnyName: true }, false],
    ['not a host', { allowAnyName: true }, false],
    ['not a host', { allowAnyName: true, enforceHostnames: false }, true],
    ['-a.example.com', { allowSubdomains: true }, false],
    [`${'a'.repeat(64)}.example.com`, { allowSubdomains: true }, false],
    ['bücher.example.com', { allowSubdomains: true }, true],
    ['localhost', {}, true],
    ['localhost', { allowLocalhost: false }, false],
    ['*.localhost', {}, false],
    ['a.localdomain', { allowSubdomains: true }, true],
    ['web-7.prod.example', { allowGlobDomains: true, allowedDomains: ['web-*.example'] }, true],
    ['web-7.prod.example', { allowSubdomains: true, allowedDomains: ['web-*.example'] }, false],
    ['192.0.2.1', { allowAnyName: true }, true],
  ])('%s under %o: %s', ([name, changes, accepted]) => {
    expect(acceptsName(role(changes), name)).toBe(accepted);
  });

  test('never contain a host outside the allowed domains', () => {
    fc.assert(
      fc.property(
        host,
        fc.boolean(),
        fc.boolean(),
        fc.constantFrom('', '*.', 'me@', 'x*.'),
        (name, allowBareDomains, allowSubdomains, prefix) => {
          const accepted = acceptsName(
            role({ allowBareDomains, allowSubdomains, allowLocalhost: false }),
            prefix + name,
          );
          const isInside = name === 'example.com' || name.endsWith('.example.com');
          expect(accepted && !isInside).toBe(false);
        },
      ),
      propertySettings({ numRuns: 2000 }),
    );
  });

  test('any text is decided without an exception', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.boolean(), (name, strict) => {
        const decided = acceptsCommonName(
          role({ enforceHostnames: strict, allowAnyName: true }),
          name,
        );
        expect(typeof decided).toBe('boolean');
      }),
      propertySettings({ numRuns: 2000 }),
    );
  });
});
