/** Stores that followed a log before, and follow it again over another link. */
import { join } from 'node:path';
import { startNats, temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';
import { removeReplicated } from '../src/replication.ts';
import { admit, findDeviations, put, resumeSecondary, startPrimary } from './cluster.ts';
import { putMany } from './cluster-writes.ts';

test.for([
  { before: 'was emptied', change: removeReplicated },
  {
    before: 'was written to',
    change: (store: Parameters<typeof put>[0]) =>
      put(store, { 'shared/a/1': 'own', 'shared/b': '' }),
  },
])(
  'a store that $before is compared with the primary, wherever it followed to',
  async ({ change }) => {
    await using nats = await startNats({ jetstream: true });
    await using folder = await temporaryDirectory();
    const file = join(folder.path, 'secondary.db');
    await using primary = await startPrimary(nats.url);
    await putMany(primary, 50, 'a');
    primary.publish();
    {
      await using left = await resumeSecondary(
        nats.url,
        'performance',
        await admit(primary, 'one'),
        file,
      );
      await left.untilCaughtUp(primary);
      await primary.membership.revoke('one');
      await put(primary.store, { 'shared/meanwhile': 'unseen' });
      await left.until(({ state }) => state === 'idle');
      await change(left.store);
    }
    await using joined = await resumeSecondary(
      nats.url,
      'performance',
      await admit(primary, 'one'),
      file,
    );
    await joined.until(({ state }) => state === 'stream-wals');
    await joined.untilCaughtUp(primary);
    expect(await findDeviations(primary, joined)).toEqual([]);
  },
);
