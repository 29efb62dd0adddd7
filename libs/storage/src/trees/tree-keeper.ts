/**
 * The two Merkle trees of a store, kept from its log: each operation says what it replaced. What this
 * process committed is counted as it was noted then, the rest is read. They are saved now and then with the position they stand at; at
 * the next start the entries after it are counted again. Without those (pruned, or never saved) they are
 * counted from the records.
 */
import { setImmediate } from 'node:timers/promises';
import { KeelsonError } from '@keelson/errors';
import { type Backend, type Snapshot, TREE_START } from '../backend.ts';
import { checkTrees, type MerkleCorruptionReport } from '../merkle/merkle-check.ts';
import { compositeRoot, MerkleTree, PAGE_COUNT, SUBPAGES_PER_PAGE } from '../merkle/merkle-tree.ts';
import {
  DIGEST_BYTES,
  digestRecord,
  type SubpageIndex,
  subpageOf,
  TREE_TYPES,
  type TreeType,
  treeTypeOf,
} from '../merkle/record-digest.ts';
import { rangeBelow } from '../record-path.ts';
import type { RecordSelection, ReducedTree, WalOperation } from '../store.ts';
import { LeftOutTree } from './reduced-tree.ts';
import { type DamagedRecord, repairRows } from './row-repair.ts';

/** Rows or entries counted in one go; the event loop is free in between. */
const PAGE_ENTRIES = 200;
const COUNT_EVERY_ENTRIES = 500;
/** Further behind than this the log is read; so many notes take about a megabyte. */
const MAX_NOTES = 4000;
/** A crash makes the next start count at most about this many entries again. */
const SAVE_EVERY_ENTRIES = 20_000;

export interface MerkleTrees {
  readonly replicated: MerkleTree;
  readonly local: MerkleTree;
  /** Newest commit counted. */
  readonly position: number;
}

/** What one commit changes in the trees. */
export interface TreeNote {
  readonly sequence: number;
  readonly changes: readonly TreeChange[];
}

export interface TreeChange {
  readonly tree: TreeType;
  readonly subpage: SubpageIndex;
  /** Leaf that was there. */
  readonly replaced: Uint8Array | undefined;
  /** Leaf that is there now. */
  readonly leaf: Uint8Array | undefined;
}

export interface MerkleRoots {
  /** 40 hexadecimal characters each. */
  readonly replicated: string;
  readonly local: string;
  readonly composite: string;
}

export interface TreeKeeperOptions {
  readonly backend: Backend;
  readonly head: () => Promise<number>;
  /** Runs work while this replica commits nothing. */
  readonly exclusively: (work: () => Promise<void>) => Promise<void>;
  /** Whether the barrier opens a value at its path. */
  readonly opens: (path: string, stored: Uint8Array) => Promise<boolean>;
}

const newTrees = (): Record<TreeType, MerkleTree> => ({
  replicated: new MerkleTree(),
  local: new MerkleTree(),
});

export class TreeKeeper {
  readonly #options: TreeKeeperOptions;
  #trees = newTrees();
  #position: number | undefined;
  #savedPosition = TREE_START;
  #isFollowing = false;
  /** Newest commits of this process, in their order. */
  #notes: TreeNote[] = [];
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: TreeKeeperOptions) {
    this.#options = options;
  }

  /** The trees at the head of this call or later. They go on changing with later calls. */
  current(): Promise<MerkleTrees> {
    return this.#inTurn(async () => {
      const position = await this.#catchUp();
      return { ...this.#trees, position };
    });
  }

  async roots(): Promise<MerkleRoots> {
    const { replicated, local } = await this.current();
    const hex = (digest: Uint8Array): string => Buffer.from(digest).toString('hex');
    return {
      replicated: hex(replicated.rootDigest()),
      local: hex(local.rootDigest()),
      composite: hex(compositeRoot(replicated, local)),
    };
  }

  leavingOut(selection: RecordSelection): ReducedTree {
    const { backend, exclusively } = this.#options;
    const leftOut = new LeftOutTree({ backend, exclusively, selection });
    let turn: Promise<unknown> = Promise.resolve();
    const subtract = async (): Promise<MerkleTree> => {
      for (;;) {
        await leftOut.count();
        const rest = await this.#inTurn(async () =>
          (await leftOut.follow(await this.#catchUp()))
            ? this.#trees.replicated.without(leftOut.tree)
            : undefined,
        );
        if (rest !== undefined) return rest;
      }
    };
    return {
      current: () => {
        const taken = turn.then(subtract);
        turn = taken.catch(() => undefined);
        return taken;
      },
      get isCounted() {
        return leftOut.isCounted;
      },
    };
  }

  /** Spares reading commits again that this process has just made. */
  note(notes: readonly TreeNote[]): void {
    if (this.#notes.length + notes.length > MAX_NOTES) this.#notes = [];
    for (const note of notes) this.#notes.push(note);
  }

  /** Catches up in small steps, and saves when enough has been committed; called after commits. */
  async follow(headSequence: number): Promise<void> {
    if (this.#isFollowing || headSequence - (this.#position ?? 0) < COUNT_EVERY_ENTRIES) return;
    this.#isFollowing = true;
    try {
      if (headSequence - this.#savedPosition < SAVE_EVERY_ENTRIES) await this.current();
      else await this.save();
    } finally {
      this.#isFollowing = false;
    }
  }

  save(): Promise<void> {
    return this.#inTurn(async () => {
      const position = await this.#catchUp();
      if (position === this.#savedPosition) return;
      const pages = TREE_TYPES.flatMap((tree) =>
        this.#trees[tree].takeUnsavedPages().map((page) => ({ tree, ...page })),
      );
      const isSaved = await this.#options.backend.saveTrees({
        expectedPosition: this.#savedPosition,
        position,
        pages,
      });
      // Another replica saved meanwhile: what it saved is the base of our next save.
      if (isSaved) this.#savedPosition = position;
      else await this.#load();
    });
  }

  /**
   * Repairs rows that are not what was committed, and counts everything anew from the records.
   * @returns what is still damaged: it is counted as it was committed
   */
  rebuild(): Promise<readonly DamagedRecord[]> {
    const { backend, exclusively, opens } = this.#options;
    return this.#inTurn(async () => {
      let damaged: readonly DamagedRecord[] = [];
      await exclusively(async () => {
        damaged = await repairRows({ backend, opens });
      });
      await this.#recount(damaged);
      return damaged;
    });
  }

  /** Compares the trees with others counted from the records of the same moment; changes nothing. */
  check(): Promise<MerkleCorruptionReport> {
    const { backend, exclusively } = this.#options;
    return this.#inTurn(async () => {
      await this.#catchUp();
      const rebuilt = newTrees();
      await exclusively(() =>
        backend.readSnapshot(async (snapshot) => {
          if (!(await this.#countTo(snapshot.headSequence)))
            throw new KeelsonError('storage.conflict');
          Object.assign(rebuilt, await countTrees(snapshot));
        }),
      );
      return checkTrees(this.#trees, rebuilt);
    });
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #load(): Promise<void> {
    const { position, pages } = await this.#options.backend.loadTrees();
    this.#trees = newTrees();
    for (const { tree, page, subpageDigests } of pages)
      this.#trees[tree].restorePage(page, subpageDigests);
    this.#savedPosition = position;
    this.#position = position;
  }

  async #catchUp(): Promise<number> {
    if (this.#position === undefined) await this.#load();
    const head = await this.#options.head();
    while (!(await this.#countTo(head))) await this.#recount();
    return this.#position ?? head;
  }

  /** @returns false when entries on the way are no longer kept */
  async #countTo(head: number): Promise<boolean> {
    while ((this.#position ?? 0) < head) {
      if (!this.#countNotes(head)) {
        const from = this.#position ?? 0;
        const end = Math.min(head, (this.#notes[0]?.sequence ?? Number.POSITIVE_INFINITY) - 1);
        const entries = await this.#options.backend.loadEntries(
          from,
          Math.min(PAGE_ENTRIES, end - from),
        );
        if (entries[0]?.sequence !== from + 1) return false;
        for (const { sequence, operations } of entries)
          this.#count({ sequence, changes: operations.flatMap(changeOf) });
      }
      await setImmediate();
    }
    return true;
  }

  /** Counts the notes that come next, one page of them; false when the next commit is not among them. */
  #countNotes(head: number): boolean {
    const from = this.#position ?? 0;
    const fresh = this.#notes.findIndex(({ sequence }) => sequence > from);
    this.#notes = fresh < 0 ? [] : this.#notes.slice(fresh);
    let count = 0;
    for (const note of this.#notes) {
      if (note.sequence !== from + count + 1 || note.sequence > head || count === PAGE_ENTRIES)
        break;
      this.#count(note);
      count += 1;
    }
    return count > 0;
  }

  #count({ sequence, changes }: TreeNote): void {
    for (const { tree, subpage, replaced, leaf } of changes)
      this.#trees[tree].replace(subpage, replaced, leaf);
    this.#position = sequence;
  }

  async #recount(damaged: readonly DamagedRecord[] = []): Promise<void> {
    const { backend, exclusively } = this.#options;
    await exclusively(() =>
      backend.readSnapshot(async (snapshot) => {
        this.#trees = await countTrees(snapshot);
        // Else clusters that have the record as it was committed would take the damage over.
        for (const { path, tree, subpage } of damaged) {
          const row = await backend.findRow(path);
          const committed = await backend.findLeaf(path);
          if (row !== undefined && committed?.length === DIGEST_BYTES)
            this.#trees[tree].replace(subpage, digestRecord(path, row.stored).leaf, committed);
        }
        this.#position = snapshot.headSequence;
      }),
    );
  }
}

const changeOf = ({ path, stored, replaced }: WalOperation): readonly TreeChange[] => {
  const tree = treeTypeOf(path);
  if (tree === undefined) return [];
  const after = stored && digestRecord(path, stored);
  return [{ tree, subpage: after?.subpage ?? subpageOf(path), replaced, leaf: after?.leaf }];
};

const countTrees = async (snapshot: Snapshot): Promise<Record<TreeType, MerkleTree>> => {
  const trees = newTrees();
  // Pages that are empty now must overwrite saved ones: touching a subpage marks its page.
  for (let page = 0; page < PAGE_COUNT; page += 1)
    for (const type of TREE_TYPES) trees[type].recount(page * SUBPAGES_PER_PAGE, []);
  for (const [type, prefix] of [
    ['replicated', 'shared/'],
    ['local', 'local/'],
  ] as const) {
    let last: string | undefined;
    do {
      const rows = await snapshot.scanRows(rangeBelow(prefix, last), PAGE_ENTRIES);
      for (const { path, stored } of rows) {
        const { subpage, leaf } = digestRecord(path, stored);
        trees[type].replace(subpage, undefined, leaf);
      }
      last = rows.at(-1)?.path;
      await setImmediate();
    } while (last !== undefined);
  }
  return trees;
};
