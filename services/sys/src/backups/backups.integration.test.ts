/** Scheduled backups to a folder: taking, verifying, keeping, removing, and reporting failures. */
import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

const HOUR_MS = 3_600_000;

let parent: TemporaryDirectory;
let folder: string;
let harness: SysHarness;
beforeEach(async () => {
  parent = await temporaryDirectory();
  folder = join(parent.path, 'backups');
  harness = await openInitializedSys({
    config: { backupEverySeconds: 3600, backupFolder: folder, backupKeep: 3 },
  });
});
afterEach(async () => {
  await harness.close();
  await parent[Symbol.asyncDispose]();
});

const files = async () =>
  (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.snapshot'));
const outcomes = async () => (await harness.asRoot('GET', 'sys/storage/backups')).body.data;
const after = async (ms: number) => {
  harness.clock.advance(ms);
  await harness.settle('backups');
};

describe('scheduled backups', () => {
  test('are taken at once and then after each interval, with a digest file each', async () => {
    await harness.settle('backups');
    const [first = ''] = await files();
    expect(first).toMatch(/^keelson-\d{8}T\d{9}Z\.snapshot$/);
    const content = await readFile(join(folder, first));
    const digest = createHash('sha256').update(content).digest('hex');
    expect(await readFile(join(folder, `${first}.sha256`), 'utf8')).toBe(`${digest}  ${first}\n`);
    expect(gunzipSync(content).includes('SHA256SUMS.sealed')).toBe(true);
    expect(await outcomes()).toMatchObject({
      enabled: true,
      place: folder,
      last_success: { name: first, size: content.length, sha256: digest },
      last_failure: null,
    });
    await after(HOUR_MS - 1);
    expect(await files()).toEqual([first]);
    await after(1);
    expect(await files()).toHaveLength(2);
  });

  test('beyond the number that is kept are removed, and no other file', async () => {
    await harness.settle('backups');
    const notes = ['keelson-notes.snapshot', 'keelson-20200101T000000000Z.snapshot.part', 'x'];
    for (const name of notes) await writeFile(join(folder, name), 'x');
    const taken: string[] = [];
    for (let hour = 0; hour < 4; hour += 1) {
      await after(HOUR_MS);
      taken.push((await outcomes()).last_success.name);
    }
    const kept = (await readdir(folder)).sort();
    const newest = taken.slice(-3).flatMap((name) => [name, `${name}.sha256`]);
    expect(kept).toEqual([...newest, ...notes].sort());
  });

  test('that fail are told, repeated after minutes, and leave the earlier ones', async () => {
    await harness.settle('backups');
    const kept = await files();
    expect(await harness.sys.edge.check()).toEqual([]);
    // Renamed away, and a file is in its place: as an unmounted drive.
    const content = await readFile(join(folder, kept[0] ?? ''));
    await rm(folder, { recursive: true });
    await writeFile(folder, '');
    await after(HOUR_MS);
    const failed = await outcomes();
    expect(failed.last_failure.reason).toMatch(/object storage cannot be used \(E(EXIST|NOTDIR)/);
    expect(Date.parse(failed.next_backup) - Date.parse(failed.last_failure.time)).toBe(300_000);
    expect(await harness.sys.edge.check()).toEqual([
      expect.stringMatching(/^the backup of .* failed .*; the last one was taken at /),
    ]);
    await rm(folder);
    await after(299_000);
    expect(await files()).toEqual([]);
    await after(1000);
    expect(await files()).toHaveLength(1);
    expect(await harness.sys.edge.check()).toEqual([]);
    expect(content.length).toBeGreaterThan(0);
  });

  test('wait while a snapshot cannot be taken, and are no backups then', async () => {
    const take = harness.store.copies.take.bind(harness.store.copies);
    harness.store.copies.take = () => Promise.reject(new Error('the disk fails'));
    await harness.settle('backups');
    expect(await files()).toEqual([]);
    expect((await outcomes()).last_failure.reason).toContain('internal');
    harness.store.copies.take = take;
    await after(300_000);
    expect(await files()).toHaveLength(1);
  });
});

test('without a schedule nothing is taken', async () => {
  const other = await openInitializedSys();
  expect(Object.keys(other.sys.periodicWork)).not.toContain('backups');
  expect((await other.asRoot('GET', 'sys/storage/backups')).body.data).toMatchObject({
    enabled: false,
  });
  await other.close();
});

test.for([
  [{ backupFolder: '/x' }, 'KEELSON_BACKUP_FOLDER needs KEELSON_BACKUP_EVERY_SECONDS'],
  [{ backupEverySeconds: 60 }, 'needs KEELSON_BACKUP_FOLDER or KEELSON_OBJECT_STORAGE_ENDPOINT'],
  [
    { backupEverySeconds: 60, objectStorageEndpoint: 'http://x' },
    'KEELSON_OBJECT_STORAGE_ENDPOINT and KEELSON_OBJECT_STORAGE_BUCKET go together',
  ],
] as const)('settings that miss another are refused: %o', async ([config, text]) => {
  await expect(openInitializedSys({ config })).rejects.toThrow(text);
});
