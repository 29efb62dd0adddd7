import { expect, test } from 'vitest';
import { toExpiryFault } from './certificate-expiry.ts';

const DAY_MS = 86_400_000;
const YEAR = { notBeforeMs: 0, notAfterMs: 365 * DAY_MS };
const THREE_DAYS = { notBeforeMs: 0, notAfterMs: 3 * DAY_MS };

test.for([
  ['a certificate of a year, 15 days before its end', YEAR, 350 * DAY_MS, 'no fault'],
  ['a certificate of a year, 13 days before its end', YEAR, 352 * DAY_MS, 'expires at 1971-01-01'],
  ['a certificate of three days, after half of them', THREE_DAYS, 1.5 * DAY_MS, 'no fault'],
  ['a certificate of three days, 20 hours before its end', THREE_DAYS, 2.2 * DAY_MS, 'expires at'],
  ['an expired certificate', THREE_DAYS, 3 * DAY_MS, 'expired at 1970-01-04'],
] as const)('%s', ([, period, nowMs, expected]) => {
  expect(toExpiryFault(period, nowMs) ?? 'no fault').toContain(expected);
});
