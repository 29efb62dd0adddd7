import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  cutPower,
  type PowerCut,
  propertySettings,
  type RecordedDisk,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBarrier } from '../barrier/barrier.ts';
import { openBarrierFor } from '../barrier/open-barrier.ts';
import { openSqliteStore } from '../sqlite/sqlite-store.ts';
import { findDamage, halfWords, ROOT_KEY } from './crash-records.ts';
import type { CrashPlan } from './crash-writer.ts';
import { runCrashWriter } from './run-crash-writer.ts';

const damageOf = async (file: string, lines: readonly string[]): Promise<string[]> => {
  const barrier = createBarrier();
  const store = await openSqliteStore({ file, barrier, projections: [halfWords] });
  await openBarrierFor(store, barrier, ROOT_KEY);
  const damage = await findDamage(store, lines);
  await store.close();
  return damage;
};

/** Few steps end in the first groups, many after several checkpoints of the file, some within one. */
const ends = fc.oneof(
  { weight: 1, arbitrary: fc.record({ steps: fc.integer({ min: 1, max: 400 }) }) },
  { weight: 2, arbitrary: fc.record({ steps: fc.integer({ min: 400, max: 8000 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      steps: fc.integer({ min: 1, max: 24 }),
      counted: fc.constant('flushes of checkpoints' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      steps: fc.integer({ min: 1, max: 300 }),
      counted: fc.constant('during checkpoints' as const),
    }),
  },
);

test('a process killed at any step of a commit leaves everything it acknowledged, whole', async () => {
  await fc.assert(
    fc.asyncProperty(ends, async (end) => {
      await using folder = await temporaryDirectory();
      const file = join(folder.path, 'store.db');
      const lines = await runCrashWriter({ file, ...end });
      expect(await damageOf(file, lines)).toEqual([]);
    }),
    propertySettings({ numRuns: 15 }),
  );
});

/** None, all, or some of the pages that were not flushed. */
const powerCut = fc.record({
  taken: fc.oneof(fc.constantFrom(0, 256), fc.integer({ min: 1, max: 255 })),
  seed: fc.nat(),
});

/** Where a writer writes, and what it flushed there is recorded. */
const makeDisk = async (folder: TemporaryDirectory): Promise<RecordedDisk & { file: string }> => {
  const disk = { folder: join(folder.path, 'disk'), record: join(folder.path, 'record') };
  await mkdir(disk.folder);
  await mkdir(disk.record);
  return { ...disk, file: join(disk.folder, 'store.db') };
};

const damageAfterPowerCut = async (end: Partial<CrashPlan>, cut: PowerCut): Promise<string[]> => {
  await using folder = await temporaryDirectory();
  const { file, ...disk } = await makeDisk(folder);
  const lines = await runCrashWriter({ steps: 1, ...end, file, disk });
  const after = join(folder.path, 'after');
  cutPower(disk, after, cut);
  return damageOf(join(after, 'store.db'), lines);
};

test('a power cut at any step leaves everything acknowledged, whatever the disk had taken', async () => {
  await fc.assert(
    fc.asyncProperty(ends, powerCut, async (end, cut) => {
      expect(await damageAfterPowerCut(end, cut)).toEqual([]);
    }),
    propertySettings({ numRuns: 40 }),
  );
});

test('a power cut while a store is made leaves one that can be opened', async () => {
  const opening = fc.record({
    steps: fc.integer({ min: 1, max: 40 }),
    counted: fc.constant('while it is opened' as const),
  });
  await fc.assert(
    fc.asyncProperty(opening, powerCut, async (end, cut) => {
      expect(await damageAfterPowerCut(end, cut)).toEqual([]);
    }),
    propertySettings({ numRuns: 15 }),
  );
});

test('a process killed again and again at the same store goes on each time', async () => {
  await using folder = await temporaryDirectory();
  const file = join(folder.path, 'store.db');
  for (const count of [50, 333, 1001]) {
    const lines = await runCrashWriter({ file, steps: count });
    // Ids repeat from run to run; what was deleted last must be gone in any case.
    const deleted = lines.filter((line) => line.startsWith('-'));
    expect(await damageOf(file, deleted)).toEqual([]);
  }
});
