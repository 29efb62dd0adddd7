import fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultEndMs } from './token.ts';
import { longestLifetimeMs } from './token-lifetime.ts';

const LIMITING = { createdAtMs: 0, settings: { maxTtlEnabled: true } };

test('the usual limit accepts a token of the usual time, whatever the day', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Date.UTC(2200, 0) }), (nowMs) => {
      const lifetimeMs = defaultEndMs(nowMs) - nowMs;
      expect(longestLifetimeMs(LIMITING, 'team')).toBeGreaterThanOrEqual(lifetimeMs);
    }),
  );
});
