/** The status of a secondary that has two replicas, with a store on disk. */
import { join } from 'node:path';
import { systemClock } from '@keelson/clock';
import { createBarrier, openSqliteStore, takeFence } from '@keelson/storage';
import { temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';
import { nextSecondaryState, startSecondary } from '../domain/secondary-state.ts';
import { FollowerRecords, NOT_STARTED, type SecondaryStatus } from './follower-records.ts';
import { SharedFollower } from './shared-follower.ts';

test('no replica answers with an earlier status than the elected one has', async () => {
  await using directory = await temporaryDirectory();
  const barrier = createBarrier();
  barrier.initialize(new Uint8Array(32).fill(1));
  const store = await openSqliteStore({ file: join(directory.path, 'store.db'), barrier });
  const replica = (status: () => SecondaryStatus, onChange: (listener: () => void) => void) =>
    new SharedFollower({
      records: new FollowerRecords(store, 'pki', 'link'),
      clock: systemClock,
      heartbeatIntervalMs: 60_000,
      own: {
        status,
        appliedSequence: async () => 0,
        onChange: (listener) => {
          onChange(listener);
          return () => undefined;
        },
        endIdling: () => undefined,
        compareAgain: () => undefined,
        repair: () => Promise.resolve(),
      },
    });
  let state = startSecondary(false);
  const isElected = Promise.withResolvers<() => void>();
  const elected = replica(() => ({ ...NOT_STARTED, ...state }), isElected.resolve);
  const other = replica(
    () => NOT_STARTED,
    () => undefined,
  );
  const term = new AbortController();
  const fence = await takeFence(store, 'replication');
  const running = elected.runElected(fence, term.signal);
  const notice = await isElected.promise;
  for (const event of [
    { type: 'compared', differingSubpageCount: 1 },
    { type: 'copied' },
    { type: 'stream_broken' },
    { type: 'compared', differingSubpageCount: 0 },
  ] as const) {
    state = nextSecondaryState(state, event);
    notice();
    const { mode, state: activity } = await elected.reportedStatus();
    expect(await other.reportedStatus()).toMatchObject({ mode, state: activity });
  }
  term.abort();
  await running;
  await store.close();
});
