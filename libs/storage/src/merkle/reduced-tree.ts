/**
 * The replicated tree without some records, maintained as a tree of the excluded records: digests
 * of subpages are sums, so one can be subtracted from the other. The excluded records are counted
 * page by page, each at a known log position, without blocking commits; afterwards the log is
 * followed.
 */
import { setImmediate } from 'node:timers/promises';
import { digestRecord, subpageOf, treeTypeOf } from '../records/record-digest.ts';
import { comparePaths, rangeBelow } from '../records/record-path.ts';
import type { StoredRow } from '../records/stored-rows.ts';
import type { RecordSelection } from '../store.ts';
import { MerkleTree } from './merkle-tree.ts';
import type { TreeRows } from './tree-rows.ts';

const PAGE_ROWS = 200;
const PAGE_ENTRIES = 200;

export interface WithheldTreeOptions {
  readonly backend: TreeRows;
  /** Runs work while this replica commits nothing. */
  readonly exclusively: (work: () => Promise<void>) => Promise<void>;
  readonly selection: RecordSelection;
}

export class WithheldTree {
  readonly #options: WithheldTreeOptions;
  #tree = new MerkleTree();
  /** Newest commit counted; undefined if counting has not started. */
  #position: number | undefined;
  /** Prefixes whose records are still to be read; of the first one those after `#cursor`. */
  #pending: string[] = [];
  #cursor: string | undefined;

  constructor(options: WithheldTreeOptions) {
    this.#options = options;
  }

  get tree(): MerkleTree {
    return this.#tree;
  }

  get isCounted(): boolean {
    return this.#position !== undefined && this.#pending.length === 0;
  }

  /** Reads the selected records; commits wait for one page at a time. */
  async count(): Promise<void> {
    while (!this.isCounted) {
      if (this.#position === undefined) await this.#begin();
      else await this.#countPage();
      await setImmediate();
    }
  }

  /**
   * The position is taken first: prefixes that exist by then are among those asked for afterwards, and all records of
   * a later one are in the log.
   */
  async #begin(): Promise<void> {
    const { backend, exclusively, selection } = this.#options;
    let head = 0;
    await exclusively(() =>
      backend.readSnapshot(async ({ headSequence }) => {
        head = headSequence;
      }),
    );
    this.#tree = new MerkleTree();
    this.#pending = [...(await selection.prefixes())];
    this.#cursor = undefined;
    this.#position = head;
  }

  /** Applies the log up to `head`; false when entries were pruned, so that the tree must be rebuilt. */
  async follow(head: number): Promise<boolean> {
    const { backend, selection } = this.#options;
    let position = this.#position ?? 0;
    while (position < head) {
      const entries = await backend.loadEntries(position, Math.min(PAGE_ENTRIES, head - position));
      if (entries[0]?.sequence !== position + 1) {
        this.#position = undefined;
        return false;
      }
      const operations = entries
        .flatMap((entry) => entry.operations)
        .filter(({ path }) => treeTypeOf(path) === 'replicated');
      await selection.prepare(operations.map(({ path }) => path));
      for (const { path, stored, replaced } of operations)
        if (selection.has(path) && !this.#isPending(path))
          this.#tree.replace(subpageOf(path), replaced, stored && digestRecord(path, stored).leaf);
      position = entries.at(-1)?.sequence ?? head;
      this.#position = position;
      await setImmediate();
    }
    return true;
  }

  async #countPage(): Promise<void> {
    const { backend, exclusively, selection } = this.#options;
    const [prefix] = this.#pending;
    let rows: readonly StoredRow[] = [];
    let head = 0;
    await exclusively(() =>
      backend.readSnapshot(async (snapshot) => {
        head = snapshot.headSequence;
        if (prefix !== undefined)
          rows = await snapshot.scanRows(rangeBelow(prefix, this.#cursor), PAGE_ROWS);
      }),
    );
    // Records before the cursor have changed since they were read; those after it are read as they are now.
    if (!(await this.follow(head))) return;
    await selection.prepare(rows.map(({ path }) => path));
    for (const { path, stored } of rows)
      if (selection.has(path)) {
        const { subpage, leaf } = digestRecord(path, stored);
        this.#tree.replace(subpage, undefined, leaf);
      }
    this.#cursor = rows.at(-1)?.path;
    if (rows.length < PAGE_ROWS) {
      this.#pending.shift();
      this.#cursor = undefined;
    }
  }

  #isPending(path: string): boolean {
    return this.#pending.some(
      (prefix, index) =>
        path.startsWith(prefix) &&
        (index > 0 || this.#cursor === undefined || comparePaths(path, this.#cursor) > 0),
    );
  }
}
