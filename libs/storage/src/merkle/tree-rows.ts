/** Database access of the Merkle trees: the log, the rows they are computed from, and their own pages. */
import type { PathRange } from '../records/record-path.ts';
import type { CheckedRow, PutRow, Snapshot, StoredRow } from '../records/stored-rows.ts';
import type { TreeType } from '../store.ts';
import type { LogEntries } from '../wal/log-rows.ts';

/** Position of trees that were never saved. */
export const TREE_START = 0;

export interface SavedPage {
  readonly tree: TreeType;
  readonly page: number;
  readonly subpageDigests: Uint8Array;
}

export interface SavedTrees {
  readonly position: number;
  readonly pages: readonly SavedPage[];
}

export interface TreeRows extends LogEntries {
  findRow(path: string): StoredRow | undefined | Promise<StoredRow | undefined>;
  /** Merkle leaf of a record; undefined if there is none, or the record belongs to no tree. */
  findLeaf(path: string): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  scanChecked(range: PathRange, limit: number): Promise<readonly CheckedRow[]>;
  /** Corrects a row in place, without a commit, unless it has another version by now. */
  restoreRow(row: PutRow): Promise<void>;
  /** Reads all rows as of one moment. Called while this replica commits nothing. */
  readSnapshot(read: (snapshot: Snapshot) => Promise<void>): Promise<void>;
  loadTrees(): Promise<SavedTrees>;
  /** Returns false and saves nothing if the saved position is not the expected one. */
  saveTrees(trees: SavedTrees & { readonly expectedPosition: number }): Promise<boolean>;
}
