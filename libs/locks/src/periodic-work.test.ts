import { setImmediate } from 'node:timers/promises';
import { ManualClock } from '@keelson/clock';
import { expect, test } from 'vitest';
import { InProcessLeaseStore } from './in-process-lease-store.ts';
import { runPeriodically } from './periodic-work.ts';

test('work that always has more to do leaves other events their turn', async () => {
  const end = new AbortController();
  const clock = new ManualClock();
  const leases = new InProcessLeaseStore({ clock });
  let rounds = 0;
  const round = (): Promise<boolean> => {
    rounds += 1;
    // Otherwise a failure of this test would never end.
    return Promise.resolve(rounds < 1000);
  };
  const takeFence = (lease: string) => Promise.resolve({ lease, holder: 'a' });
  const options = { name: 'busy', leases, clock, takeFence };
  const work = runPeriodically(options, { everyMs: 1000, round }, end.signal);
  await setImmediate();
  end.abort();
  await work;
  expect(rounds).toBeLessThan(10);
  await leases.close();
});
