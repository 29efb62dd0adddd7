/**
 * Repair of rows that differ from what was committed. A value that can be decrypted is intact, so only its
 * leaf is wrong and is written again. A value that cannot be decrypted is damaged, and is restored from the
 * log if the log still holds its last write.
 */
import { setImmediate } from 'node:timers/promises';
import { digestRecord, treeTypeOf } from '../records/record-digest.ts';
import { rangeBelow } from '../records/record-path.ts';
import type { CheckedRow } from '../records/stored-rows.ts';
import type { DamagedRecord, WalOperation } from '../store.ts';
import type { TreeRows } from './tree-rows.ts';

const PAGE_ROWS = 200;

export interface RowRepairOptions {
  readonly backend: TreeRows;
  /** Whether the barrier opens a value at its path. */
  readonly opens: (path: string, stored: Uint8Array) => Promise<boolean>;
  /** Called with each row that was restored from the log. */
  readonly onRestored: (row: WalOperation) => void;
}

type Damaged = Map<string, Pick<CheckedRow, 'version'>>;

/** Called while this replica commits nothing. @returns what could not be repaired */
export const repairRows = async (options: RowRepairOptions): Promise<readonly DamagedRecord[]> => {
  const damaged: Damaged = new Map();
  for (const prefix of ['shared/', 'local/']) await correctLeaves(options, prefix, damaged);
  if (damaged.size > 0) await restoreFromLog(options, damaged);
  return [...damaged.keys()].flatMap((path) => {
    const tree = treeTypeOf(path);
    return tree === undefined
      ? []
      : [{ path, tree, subpage: digestRecord(path, new Uint8Array()).subpage }];
  });
};

const correctLeaves = async (
  { backend, opens }: RowRepairOptions,
  prefix: string,
  damaged: Damaged,
): Promise<void> => {
  let last: string | undefined;
  do {
    const rows = await backend.scanChecked(rangeBelow(prefix, last), PAGE_ROWS);
    for (const { path, stored, version, leaf } of rows) {
      const digest = digestRecord(path, stored);
      if (leaf !== undefined && Buffer.compare(digest.leaf, leaf) === 0) continue;
      if (await opens(path, stored)) await backend.restoreRow({ path, stored, version, digest });
      else damaged.set(path, { version });
    }
    last = rows.at(-1)?.path;
    await setImmediate();
  } while (last !== undefined);
};

/** Restores damaged rows from the log, and removes the restored ones from `damaged`. */
const restoreFromLog = async (
  { backend, opens, onRestored }: RowRepairOptions,
  damaged: Damaged,
): Promise<void> => {
  // The first pass finds the newest write of each row, so that no values are held in memory.
  const newest = new Map<string, number>();
  await readLog(backend, ({ sequence, operations }) => {
    for (const { path } of operations) if (damaged.has(path)) newest.set(path, sequence);
  });
  await readLog(backend, async ({ sequence, operations }) => {
    for (const { path, stored } of operations) {
      const row = newest.get(path) === sequence ? damaged.get(path) : undefined;
      if (row === undefined || stored === undefined || !(await opens(path, stored))) continue;
      const { version } = row;
      await backend.restoreRow({ path, stored, version, digest: digestRecord(path, stored) });
      damaged.delete(path);
      onRestored({ path, stored });
    }
  });
};

const readLog = async (
  backend: TreeRows,
  see: (entry: Awaited<ReturnType<TreeRows['loadEntries']>>[number]) => void | Promise<void>,
): Promise<void> => {
  let last = ((await backend.firstSequence()) ?? 1) - 1;
  for (;;) {
    const entries = await backend.loadEntries(last, PAGE_ROWS);
    for (const entry of entries) await see(entry);
    const end = entries.at(-1);
    if (end === undefined) return;
    last = end.sequence;
    await setImmediate();
  }
};
