import { describe, expect, test } from 'vitest';
import { matching } from '../src/browser/certificates/certificate.ts';
import {
  expiryQuery,
  parseCertificateSearch,
} from '../src/browser/certificates/certificate-search.ts';
import { nameRules } from '../src/browser/certificates/role.ts';

const certificate = (common_name: string, serial: string) => ({
  serial,
  common_name,
  issuer: 'Root',
  key_type: 'ec',
  key_bits: 256,
  not_before: '2026-01-01T00:00:00Z',
  not_after: '2030-01-01T00:00:00Z',
  dns_names: [`alt.${common_name}`],
  revoked: false,
});

describe('certificates', () => {
  const all = [certificate('www.example.com', '0a:1b:2c'), certificate('mail.org', 'ff:00:11')];
  test.for([
    ['WWW', ['0a:1b:2c']],
    ['alt.mail', ['ff:00:11']],
    ['1b:2c', ['0a:1b:2c']],
    ['a1b2', ['0a:1b:2c']],
    ['FF-00', ['ff:00:11']],
    ['', ['0a:1b:2c', 'ff:00:11']],
    ['nothing', []],
  ] as const)('are found by "%s"', ([text, serials]) => {
    expect(matching(all, text).map(({ serial }) => serial)).toEqual(serials);
  });

  test('are selected by the address, in which the usual selection is left out', () => {
    expect(parseCertificateSearch({ text: 12, expiry: 'week', other: 1 })).toEqual({
      text: '12',
      expiry: 'week',
    });
    expect(parseCertificateSearch({ text: '', expiry: 'valid' })).toEqual({});
    expect(expiryQuery('expired', 0)).toBe('expires_before=1970-01-01T00%3A00%3A00.000Z');
    expect(expiryQuery('valid', 0)).toMatch(/&revoked=false$/);
    expect(expiryQuery('revoked', 0)).toBe('revoked=true');
  });
});

describe('the rules of a role', () => {
  const role = {
    allowed_domains: ['example.com'],
    allow_bare_domains: false,
    allow_subdomains: false,
    allow_glob_domains: false,
    allow_any_name: false,
    allow_localhost: false,
    allow_wildcard_certificates: false,
    allow_ip_sans: false,
  };
  test('say that a domain alone allows nothing', () => {
    expect(nameRules(role)[0]).toContain('neither it nor what is below it is allowed');
  });
  test('name what is allowed', () => {
    expect(nameRules({ ...role, allow_subdomains: true, allow_ip_sans: true })).toEqual([
      'Names below example.com.',
      'No wildcards.',
      'Any IP address.',
    ]);
    expect(nameRules({ ...role, allow_any_name: true })).toEqual(['Any name is certified.']);
  });
});
