import { describe, expect, test } from 'vitest';
import { issuerRows } from '../src/browser/certificates/issuer-rows.ts';
import { lifetimeDecision, nameDecision } from '../src/browser/certificates/role.ts';

const NONE = {
  allow_any_name: false,
  allow_glob_domains: false,
  allow_localhost: false,
  allowed_domains: ['example.com', ' *.lab.test'],
  allow_bare_domains: false,
  allow_subdomains: false,
  allow_wildcard_certificates: false,
  allow_ip_sans: false,
};

describe('the preview of a role', () => {
  test.for([
    ['example.com', {}, false],
    ['example.com', { allow_bare_domains: true }, true],
    ['www.example.com', { allow_bare_domains: true }, false],
    ['www.example.com', { allow_subdomains: true }, true],
    ['wwwexample.com', { allow_subdomains: true }, false],
    ['*.example.com', { allow_subdomains: true }, false],
    ['*.example.com', { allow_subdomains: true, allow_wildcard_certificates: true }, true],
    ['a.lab.test', {}, false],
    ['a.lab.test', { allow_glob_domains: true }, true],
    ['localhost', {}, false],
    ['localhost', { allow_localhost: true }, true],
    ['10.0.0.1', { allow_any_name: true }, false],
    ['::1', { allow_ip_sans: true }, true],
    ['anything.org', { allow_any_name: true }, true],
    ['', { allow_any_name: true }, false],
  ] as const)('says of %j with %j: %s', ([name, rules, isAllowed]) => {
    expect(nameDecision({ ...NONE, ...rules }, name).isAllowed).toBe(isAllowed);
  });

  test.for([
    ['0', '0', '', true, 'as long as the authority says'],
    ['36h', '720h', '', true, '1 d 12 h'],
    ['0', '720h', '720h', true, '30 d'],
    ['0', '720h', '2592001', false, 'at most 30 d'],
    ['0', '1h30m', '91m', false, 'at most 1 h 30 min'],
    ['0', '0', '9999h', true, '416 d 15 h'],
    ['0', '0', 'soon', false, 'not a duration'],
    ['0', '0', '0', false, 'not a duration'],
  ] as const)(
    'grants by ttl %j and max_ttl %j a request for %j: %s',
    ([ttl, max_ttl, asked, isAllowed, words]) => {
      expect(lifetimeDecision({ ttl, max_ttl }, asked)).toEqual({
        isAllowed,
        reason: expect.stringContaining(words),
      });
    },
  );
});

describe('the rows of a chain', () => {
  const issuer = (id: string, ...chain: string[]) => ({
    id,
    name: id,
    isDefault: false,
    certificate: `${id}\n`,
    chain: [id, ...chain],
    fromMs: 0,
    untilMs: id.length,
  });

  test('put each issuer below its signer', () => {
    const rows = issuerRows([issuer('leaf', 'mid', 'root'), issuer('mid', 'root'), issuer('root')]);
    expect(
      rows.map(({ issuer: { id }, depth, parentAt, signer }) => [id, depth, parentAt, signer]),
    ).toEqual([
      ['root', 0, undefined, undefined],
      ['mid', 1, 0, 'root'],
      ['leaf', 2, 1, 'mid'],
    ]);
  });

  test('end where issuers have signed each other', () => {
    expect(issuerRows([issuer('a', 'b'), issuer('b', 'a')])).toHaveLength(2);
  });
});
