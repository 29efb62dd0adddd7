/** Processes killed with SIGKILL at chosen steps of committing, applying and publishing. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startNats, type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';
import {
  admit,
  findDeviations,
  put,
  resumeSecondary,
  startPrimary,
  startSecondary,
} from './cluster.ts';
import { runKilledCluster } from './run-killed-cluster.ts';

/** Small numbers end in the first commits, large ones after several batches. */
const STEPS = [3, 8, 21, 55, 144, 377];
/** Amid its first copy, then among what comes over the stream, where records and position are one commit. */
const STEPS_OF_A_SECONDARY = [
  { steps: 21, isCopied: false },
  { steps: 144, isCopied: false },
  { steps: 5, isCopied: true },
  { steps: 18, isCopied: true },
  { steps: 61, isCopied: true },
  { steps: 240, isCopied: true },
];

/** A store's file in its own folder, and the folder of the record of its disk. */
const placeFor = async (folder: TemporaryDirectory, name: string) => {
  const disk = join(folder.path, 'disk');
  await mkdir(disk);
  return { file: join(disk, name), record: join(folder.path, 'record') };
};

test('a primary killed between any steps of commit and publish loses nothing it acknowledged', async () => {
  await using nats = await startNats({ jetstream: true });
  await using folder = await temporaryDirectory();
  const { file, record } = await placeFor(folder, 'primary.db');
  const before = await startPrimary(nats.url, 'performance', file);
  before.publish();
  await using secondary = await startSecondary(nats.url, before);
  await secondary.untilCaughtUp(before);
  await before[Symbol.asyncDispose]();

  const acknowledged: string[] = [];
  for (const steps of STEPS)
    acknowledged.push(...(await runKilledCluster({ natsUrl: nats.url, file, record, steps })));

  await using primary = await startPrimary(nats.url, 'performance', file);
  primary.publish();
  await secondary.untilCaughtUp(primary);
  expect(await findDeviations(primary, secondary)).toEqual([]);
  expect(acknowledged.length).toBeGreaterThan(0);
  for (const path of acknowledged) expect(await secondary.store.read(path)).toBeDefined();
});

test('a secondary killed between any steps of applying continues and ends equal', async () => {
  await using nats = await startNats({ jetstream: true });
  await using folder = await temporaryDirectory();
  const { file, record } = await placeFor(folder, 'secondary.db');
  await using primary = await startPrimary(nats.url);
  await Promise.all(
    Array.from({ length: 300 }, (_, index) =>
      put(primary.store, { [`shared/${index}`]: 'before' }),
    ),
  );
  primary.publish();
  const identity = await admit(primary, 'killed');
  for (const { steps, isCopied } of STEPS_OF_A_SECONDARY) {
    const ending = new AbortController();
    const writing = (async () => {
      // Paths that no later round writes, so that a loss in one round remains visible.
      for (let count = 0; !ending.signal.aborted; count += 1)
        await put(primary.store, { [`shared/${steps}/${count}`]: `${count}` });
    })();
    const follower = { identity, isCopied };
    await runKilledCluster({ natsUrl: nats.url, file, record, steps, secondary: follower });
    ending.abort();
    await writing;
  }
  await using secondary = await resumeSecondary(nats.url, 'performance', identity, file);
  await secondary.untilCaughtUp(primary);
  expect(await findDeviations(primary, secondary)).toEqual([]);
});
