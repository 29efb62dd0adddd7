import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { diskDirectory, propertySettings, type TemporaryDirectory } from '@keelson/testkit';
import {
  cutPower,
  type PowerCut,
  type RecordedDisk,
  type RecordedEnd,
  recordedEnvironment,
} from '@keelson/testkit/recorded-disk';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBarrier } from '../barrier/barrier.ts';
import { openBarrierFor } from '../barrier/open-barrier.ts';
import { openSqliteStore } from '../sqlite/sqlite-store.ts';
import { findDamage, halfWords, ROOT_KEY } from './crash-records.ts';
import { runCrashWriter } from './run-crash-writer.ts';

const FILE = 'store.db';

const damageOf = async (file: string, lines: readonly string[]): Promise<string[]> => {
  const barrier = createBarrier();
  const store = await openSqliteStore({ file, barrier, projections: [halfWords] });
  await openBarrierFor(store, barrier, ROOT_KEY);
  const damage = await findDamage(store, lines);
  await store.close();
  return damage;
};

const makeDisk = async (folder: TemporaryDirectory): Promise<RecordedDisk> => {
  const disk = { folder: join(folder.path, 'disk'), record: join(folder.path, 'record') };
  await mkdir(disk.folder);
  await mkdir(disk.record);
  return disk;
};

/** @returns the writer's lines before it was killed */
const writeUntil = async (disk: RecordedDisk, end: RecordedEnd): Promise<readonly string[]> =>
  runCrashWriter({ file: join(disk.folder, FILE) }, await recordedEnvironment(disk, end));

/**
 * Small step numbers end during creation or the first groups, large ones after several checkpoints.
 * Steps counted only for the main file end within a checkpoint, before or after its flush.
 */
const ends: fc.Arbitrary<RecordedEnd> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ steps: fc.integer({ min: 1, max: 400 }) }) },
  { weight: 2, arbitrary: fc.record({ steps: fc.integer({ min: 400, max: 8000 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      steps: fc.integer({ min: 1, max: 2000 }),
      counted: fc.constant(FILE),
    }),
  },
);

test('a process killed at any step of a commit leaves all acknowledged commits complete', async () => {
  await fc.assert(
    fc.asyncProperty(ends, async (end) => {
      await using folder = await diskDirectory();
      const disk = await makeDisk(folder);
      const lines = await writeUntil(disk, end);
      expect(await damageOf(join(disk.folder, FILE), lines)).toEqual([]);
    }),
    propertySettings({ numRuns: 15 }),
  );
});

/** A power cut after which none, all or some of the unflushed data are on disk. */
const powerCut: fc.Arbitrary<PowerCut> = fc.record({
  taken: fc.oneof(fc.constantFrom(0, 256), fc.integer({ min: 1, max: 255 })),
  seed: fc.nat(),
});

const damageAfterPowerCut = async (end: RecordedEnd, cut: PowerCut): Promise<string[]> => {
  await using folder = await diskDirectory();
  const disk = await makeDisk(folder);
  const lines = await writeUntil(disk, end);
  const after = join(folder.path, 'after');
  cutPower(disk, after, cut);
  return await damageOf(join(after, FILE), lines);
};

test('a power cut at any step leaves everything acknowledged, whatever the disk had written', {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(ends, powerCut, async (end, cut) => {
      expect(await damageAfterPowerCut(end, cut)).toEqual([]);
    }),
    propertySettings({ numRuns: 40 }),
  );
});

test('a power cut while a store is created leaves one that can be opened', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 80 }), powerCut, async (steps, cut) => {
      expect(await damageAfterPowerCut({ steps }, cut)).toEqual([]);
    }),
    propertySettings({ numRuns: 15 }),
  );
});

test('a process killed repeatedly on the same store continues each time', async () => {
  await using folder = await diskDirectory();
  const disk = await makeDisk(folder);
  for (const steps of [150, 999, 3003]) {
    const lines = await writeUntil(disk, { steps });
    // Ids repeat from run to run; the ids deleted last must be absent in any case.
    const deleted = lines.filter((line) => line.startsWith('-'));
    expect(await damageOf(join(disk.folder, FILE), deleted)).toEqual([]);
  }
});
