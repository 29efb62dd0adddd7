/** Clusters of one set that run different versions, as they do while they are upgraded one after another. */
import { join } from 'node:path';
import { hasCode } from '@keelson/errors';
import { startNats, temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';
import {
  admit,
  findDeviations,
  put,
  resumeSecondary,
  startPrimary,
  type TestSecondary,
} from './cluster.ts';

const WITHIN_MS = 60_000;

const untilRefused = (secondary: TestSecondary): Promise<void> =>
  secondary.until(
    ({ state }) =>
      state === 'idle' &&
      secondary.failures.some((error) => hasCode(error, 'replication.newer_primary')),
  );

test(
  'a secondary applies nothing of a primary with a newer version until it is upgraded itself',
  async () => {
    await using nats = await startNats({ jetstream: true });
    await using folder = await temporaryDirectory();
    const file = join(folder.path, 'secondary.db');
    await using primary = await startPrimary(nats.url);
    primary.publish();
    const identity = await admit(primary, 'one');
    await put(primary.store, { 'shared/before': 'the upgrade' });
    {
      await using older = await resumeSecondary(nats.url, 'performance', identity, file);
      await older.untilCaughtUp(primary);
      primary.upgrade('1.3.0');
      await put(primary.store, { 'shared/after': 'the upgrade' });
      await untilRefused(older);
      expect(await older.store.read('shared/before')).toBeDefined();
      expect(await older.store.read('shared/after')).toBeUndefined();
    }
    await using newer = await resumeSecondary(nats.url, 'performance', identity, file, '1.3.0');
    await newer.untilCaughtUp(primary);
    expect(await findDeviations(primary, newer)).toEqual([]);
  },
  WITHIN_MS,
);

test(
  'an older secondary copies nothing at all, and a newer one follows',
  async () => {
    await using nats = await startNats({ jetstream: true });
    await using folder = await temporaryDirectory();
    await using primary = await startPrimary(nats.url);
    await put(primary.store, { 'shared/a': 'text' });
    primary.publish();
    const start = async (name: string, version: string): Promise<TestSecondary> =>
      resumeSecondary(
        nats.url,
        'performance',
        await admit(primary, name),
        join(folder.path, `${name}.db`),
        version,
      );
    await using older = await start('older', '1.1.9');
    await untilRefused(older);
    expect(await older.store.read('shared/a')).toBeUndefined();
    await using newer = await start('newer', '1.10.0');
    await newer.untilCaughtUp(primary);
    expect(await findDeviations(primary, newer)).toEqual([]);
  },
  WITHIN_MS,
);
