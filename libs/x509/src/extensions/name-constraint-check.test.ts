import { describe, expect, test } from 'vitest';
import { encodeName, toDistinguishedName } from '../names/distinguished-name.ts';
import type { GeneralName } from '../names/general-name.ts';
import {
  constrainedNames,
  findConstraintViolation,
  parseNameConstraints,
} from './name-constraint-check.ts';
import { type NameSubtrees, nameConstraints } from './name-constraints.ts';
import { subjectAltName } from './subject-alt-name.ts';

const violation = (permitted: NameSubtrees, excluded: NameSubtrees, name: GeneralName) => {
  const subject = encodeName(toDistinguishedName({ commonName: 'any' }));
  const constraints = nameConstraints(permitted, excluded)?.value ?? new Uint8Array();
  return findConstraintViolation(
    parseNameConstraints(constraints),
    constrainedNames(subject, subjectAltName([name]).value),
  );
};

describe('name constraints', () => {
  test.for([
    [{ dns: ['example.com'] }, { kind: 'dns', value: 'A.Example.com' }],
    [{ dns: ['example.com'] }, { kind: 'dns', value: 'example.com' }],
    [{ dns: ['.example.com'] }, { kind: 'dns', value: 'a.example.com' }],
    [{ dns: ['example.com'] }, { kind: 'ip', value: '192.0.2.1' }],
    [{ email: ['example.com'] }, { kind: 'email', value: 'me@example.com' }],
    [{ email: ['.example.com'] }, { kind: 'email', value: 'me@a.example.com' }],
    [{ email: ['me@example.com'] }, { kind: 'email', value: 'me@example.com' }],
    [{ uri: ['example.com'] }, { kind: 'uri', value: 'https://example.com/path' }],
    [{ ipRanges: ['192.0.2.0/24'] }, { kind: 'ip', value: '192.0.2.200' }],
    [{ ipRanges: ['2001:db8::/32'] }, { kind: 'ip', value: '2001:db8::5' }],
  ] as const)('permit %o: %o', ([permitted, name]) => {
    expect(violation(permitted, {}, name)).toBeUndefined();
    expect(violation({}, permitted, name) === undefined).toBe(
      name.kind === 'ip' && 'dns' in permitted,
    );
  });

  test.for([
    [{ dns: ['example.com'] }, { kind: 'dns', value: 'badexample.com' }],
    [{ dns: ['.example.com'] }, { kind: 'dns', value: 'example.com' }],
    [{ email: ['example.com'] }, { kind: 'email', value: 'me@a.example.com' }],
    [{ email: ['me@example.com'] }, { kind: 'email', value: 'you@example.com' }],
    [{ uri: ['example.com'] }, { kind: 'uri', value: 'https://192.0.2.1/' }],
    [{ uri: ['example.com'] }, { kind: 'uri', value: 'urn:thing' }],
    [{ ipRanges: ['192.0.2.0/24'] }, { kind: 'ip', value: '192.0.3.1' }],
    [{ ipRanges: ['192.0.2.0/24'] }, { kind: 'ip', value: '2001:db8::5' }],
  ] as const)('%o do not permit %o', ([permitted, name]) => {
    expect(violation(permitted, {}, name)).toContain('not permitted');
  });

  test('exclude a wildcard that reaches an excluded name', () => {
    const name = { kind: 'dns', value: '*.example.com' } as const;
    expect(violation({}, { dns: ['secret.example.com'] }, name)).toContain('excluded');
    expect(violation({}, { dns: ['a.b.example.com'] }, name)).toBeUndefined();
  });

  test('permit subjects below a directory name', () => {
    const base = encodeName(toDistinguishedName({ organization: ['Keelson'] }));
    const within = encodeName(toDistinguishedName({ organization: ['Keelson'], commonName: 'a' }));
    const outside = encodeName(toDistinguishedName({ organization: ['Other'], commonName: 'a' }));
    const directory = { tag: 0xa4, content: base };
    const check = (subject: Uint8Array) =>
      findConstraintViolation(
        { permitted: [directory], excluded: [] },
        constrainedNames(subject, undefined),
      );
    expect(check(within)).toBeUndefined();
    expect(check(outside)).toContain('not permitted');
  });
});
