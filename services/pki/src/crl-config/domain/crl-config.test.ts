import { expect, test } from 'vitest';
import {
  type CrlConfig,
  DEFAULT_CRL_CONFIG,
  deltaValiditySeconds,
  isDeltaDue,
  isListDue,
} from './crl-config.ts';

const HOUR_MS = 3_600_000;
const AUTO: CrlConfig = { ...DEFAULT_CRL_CONFIG, autoRebuild: true, enableDelta: true };

test.for([
  ['now', 0, false],
  ['half a minute ahead, as clocks of replicas may be', 30_000, false],
  ['more than a minute ahead', 61_000, true],
  ['three days ahead', 80 * HOUR_MS, true],
] as const)('a list made %s', ([, aheadMs, due]) => {
  const nowMs = 1000 * HOUR_MS;
  const thisUpdateMs = nowMs + aheadMs;
  const times = { thisUpdateMs, nextUpdateMs: thisUpdateMs + 72 * HOUR_MS };
  for (const config of [DEFAULT_CRL_CONFIG, AUTO])
    expect([isListDue(config, times, nowMs), isDeltaDue(config, times, nowMs)]).toEqual([due, due]);
});

test.for([
  [DEFAULT_CRL_CONFIG, 64.8],
  [AUTO, 60],
] as const)('a list is due before its end', ([config, hours]) => {
  const times = { thisUpdateMs: 0, nextUpdateMs: 72 * HOUR_MS };
  expect(isListDue(config, times, hours * HOUR_MS - 1)).toBe(false);
  expect(isListDue(config, times, hours * HOUR_MS)).toBe(true);
});

test('a delta list is due at its interval, and valid a little longer', () => {
  expect(isDeltaDue(AUTO, undefined, 0)).toBe(true);
  expect(isDeltaDue(AUTO, { thisUpdateMs: 0 }, 15 * 60_000 - 1)).toBe(false);
  expect(isDeltaDue(AUTO, { thisUpdateMs: 0 }, 15 * 60_000)).toBe(true);
  expect(deltaValiditySeconds(AUTO)).toBe(20 * 60);
  expect(deltaValiditySeconds({ ...AUTO, deltaRebuildIntervalSeconds: 10 * 3600 })).toBe(11 * 3600);
  expect(deltaValiditySeconds({ ...AUTO, deltaRebuildIntervalSeconds: 71 * 3600 })).toBe(72 * 3600);
});
