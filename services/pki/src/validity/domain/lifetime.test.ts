import { describe, expect, test } from 'vitest';
import {
  boundByIssuer,
  decideLifetime,
  type LifetimeRequest,
  lifetimeUnderRules,
  NO_RULES,
  type RequestedLifetime,
} from './lifetime.ts';

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
    absoluteTimes: 'bounded',
    notBeforeBound: '',
    notAfterBound: '',
    ...changes,
  });

/** The time that is decided, or the text of the refusal. */
const outcome = (deciding: () => number): string => {
  try {
    return String(deciding());
  } catch (error) {
    return (error as Error).message;
  }
};

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

  const MAX_MS = Date.UTC(2030, 0, 1) + 100 * HOUR * 1000;

  test.for<readonly [Partial<LifetimeRequest>, number, string | undefined]>([
    [{}, MAX_MS, undefined],
    [
      {},
      MAX_MS + 1000,
      'requested not_after 2030-01-05T04:00:01Z is later than 2030-01-05T04:00:00Z, which the maximum ttl 100h (360000s) allows',
    ],
    [{ roleMaxTtlSeconds: HOUR }, MAX_MS, 'which the maximum ttl 1h (3600s) allows'],
    [{ absoluteTimes: 'free' }, Date.UTC(9999, 11, 31, 23, 59, 59), undefined],
    [{ notAfterBound: 'permit' }, Date.UTC(9999, 11, 31, 23, 59, 59), undefined],
    [{ notAfterBound: 'ttl-limited', absoluteTimes: 'free' }, MAX_MS + 1000, 'the maximum ttl'],
    [{ notAfterBound: 'forbid', absoluteTimes: 'free' }, MAX_MS - 1000, 'not_after_bound'],
    [{ notAfterBound: '2030-02-01T00:00:00Z' }, Date.UTC(2030, 1, 1), undefined],
    [{ notAfterBound: '2030-02-01T00:00:00Z' }, Date.UTC(2030, 1, 2), 'the not_after_bound'],
    [{}, Date.UTC(2029, 0, 1), 'before the start'],
  ])('under %o may end at %d: %s', ([changes, notAfterMs, refusal]) => {
    expect(outcome(() => decide({ ...changes, notAfterMs }).notAfterMs)).toContain(
      refusal ?? String(notAfterMs),
    );
  });

  const EARLY = Date.UTC(2029, 0, 1);

  test.for<readonly [Partial<LifetimeRequest>, number, string | undefined]>([
    [{}, Date.UTC(2030, 0, 2), undefined],
    [{}, Date.UTC(2030, 0, 1) - 30_000, undefined],
    [{}, EARLY, 'is earlier than 2029-12-31T23:59:30Z, which a not_before_duration of 30s (30s)'],
    [{ absoluteTimes: 'free' }, EARLY, undefined],
    [{ notBeforeBound: 'permit' }, EARLY, undefined],
    [{ notBeforeBound: 'duration', absoluteTimes: 'free' }, EARLY, 'is earlier than'],
    [{ notBeforeBound: 'forbid' }, Date.UTC(2030, 0, 2), 'not_before_bound'],
  ])('under %o may begin at %d: %s', ([changes, notBeforeMs, refusal]) => {
    expect(outcome(() => decide({ ...changes, notBeforeMs }).notBeforeMs)).toContain(
      refusal ?? String(notBeforeMs),
    );
  });
});

describe('the end that a role gives its certificates', () => {
  const rules = { ...NO_RULES, notAfter: '2040-01-01T00:00:00Z' };
  const asked = {
    nowMs: NOW,
    ttlSeconds: 0,
    notAfterMs: undefined,
    mountDefaultTtlSeconds: 10 * HOUR,
    mountMaxTtlSeconds: 100 * HOUR,
    overlong: 'refuse',
    absoluteTimes: 'free',
  } as const;
  const decideUnder = (changes: Partial<RequestedLifetime>, role = rules) =>
    lifetimeUnderRules({ ...asked, ...changes }, role, { notAfterMs: Number.MAX_VALUE }, 'err');

  test('is free of every maximum, and a request may ask for less', () => {
    expect(decideUnder({}).notAfterMs).toBe(Date.UTC(2040, 0, 1));
    expect(decideUnder({ ttlSeconds: HOUR }).notAfterMs).toBe(Date.UTC(2030, 0, 1, 1));
    const notAfterMs = Date.UTC(2035, 0, 1);
    expect(decideUnder({ notAfterMs }).notAfterMs).toBe(notAfterMs);
  });

  test('is not exceeded by a request', () => {
    const notAfterMs = Date.UTC(2041, 0, 1);
    expect(() => decideUnder({ notAfterMs })).toThrow(
      'requested end 2041-01-01T00:00:00Z is later than the not_after 2040-01-01T00:00:00Z of the role',
    );
    const cut = decideUnder({ notAfterMs, overlong: 'cap' });
    expect(cut.notAfterMs).toBe(Date.UTC(2040, 0, 1));
    expect(cut.warnings).toEqual([expect.stringContaining('which is being used')]);
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
