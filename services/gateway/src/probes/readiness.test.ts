import { ManualClock } from '@keelson/clock';
import type { EdgeService } from '@keelson/edge';
import { expect, test } from 'vitest';
import { createReadiness, type ReadinessParts } from './readiness.ts';

test('a service whose database hangs is not ready before a probe gives up', async () => {
  const clock = new ManualClock();
  const never = new Promise<never>(() => undefined);
  const serviceWith = (check: EdgeService['check']): EdgeService => ({
    check,
    handle: () => never,
    describe: () => never,
    position: () => never,
  });
  const readiness = createReadiness({
    clock,
    services: { sys: serviceWith(async () => []), pki: serviceWith(() => never) },
    access: { resolve: () => never } as unknown as ReadinessParts['access'],
    ownFaults: () => Promise.resolve([]),
  });
  const answered = readiness.state();
  clock.advance(2000);
  expect(await answered).toMatchObject({
    isReady: false,
    seal: 'unknown',
    services: new Map([
      ['sys', true],
      ['pki', false],
    ]),
    // Sys answers about its store, but not about the seal.
    reasons: new Map([
      ['pki', 'no answer within 1500 ms'],
      ['sys', 'no answer within 1500 ms'],
    ]),
  });
});
