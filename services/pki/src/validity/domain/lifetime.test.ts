import { describe, expect, test } from 'vitest';
import { boundByIssuer, decideLifetime, type LifetimeRequest } from './lifetime.ts';

const NOW = Date.UTC(2030, 0, 1, 0, 0, 0, 500);
const HOUR = 3600;

const decide = (changes: Partial<LifetimeRequest>) =>
  decideLifetime({
    nowMs: NOW,
    ttlSeconds: 0,
    notAfterMs: undefined,
    notBeforeDurationSeconds: 30,
    roleTtlSeconds: 0,
    roleMaxTtlSeconds: 0,
    mountDefaultTtlSeconds: 10 * HOUR,
    mountMaxTtlSeconds: 100 * HOUR,
    overlong: 'refuse',
    ...changes,
  });

describe('the lifetime of a certificate', () => {
  test.for<readonly [string, Partial<LifetimeRequest>, number]>([
    ['the default of the mount', {}, 10 * HOUR],
    ['that of the role before it', { roleTtlSeconds: 2 * HOUR }, 2 * HOUR],
    ['what is asked for before both', { ttlSeconds: HOUR, roleTtlSeconds: 2 * HOUR }, HOUR],
    ['the maximum of the role where the default is longer', { roleMaxTtlSeconds: HOUR }, HOUR],
    [
      'the maximum of the mount over that of the role',
      { roleTtlSeconds: 200 * HOUR, roleMaxTtlSeconds: 300 * HOUR },
      100 * HOUR,
    ],
    [
      'the maximum where more is asked and cut',
      { ttlSeconds: 101 * HOUR, overlong: 'cap' },
      100 * HOUR,
    ],
  ])('is %s', ([, changes, seconds]) => {
    const { notBeforeMs, notAfterMs } = decide(changes);
    const start = Date.UTC(2030, 0, 1);
    expect(notAfterMs).toBe(start + seconds * 1000);
    expect(notBeforeMs).toBe(start - 30_000);
  });

  test('over the maximum is refused with both values', () => {
    expect(() => decide({ ttlSeconds: 101 * HOUR })).toThrow(
      'requested ttl 101h (363600s) is greater than the maximum ttl 100h (360000s)',
    );
    expect(() => decide({ ttlSeconds: 3 * HOUR, roleMaxTtlSeconds: 5430 })).toThrow(
      'requested ttl 3h (10800s) is greater than the maximum ttl 1h30m30s (5430s)',
    );
  });

  test('may end at any absolute time in the request', () => {
    const notAfterMs = Date.UTC(9999, 11, 31, 23, 59, 59);
    expect(decide({ notAfterMs }).notAfterMs).toBe(notAfterMs);
    expect(() => decide({ notAfterMs: Date.UTC(2029, 0, 1) })).toThrow('before the start');
  });
});

describe('an issuer that expires before its leaf', () => {
  test('refuses, truncates or permits', () => {
    expect(() => boundByIssuer(2000, 1000, 'err')).toThrow('cannot satisfy request');
    expect(() => boundByIssuer(2000, 1000, 'always_enforce_err')).toThrow('cannot satisfy request');
    expect(boundByIssuer(2000, 1000, 'truncate')).toBe(1000);
    expect(boundByIssuer(2000, 1000, 'permit')).toBe(2000);
    expect(boundByIssuer(1000, 1000, 'err')).toBe(1000);
  });
});
