/**
 * The two Merkle trees of a store, updated from its log: each operation contains the leaf that it
 * replaced. Entries committed by this process are noted in memory, others are read from the log.
 * The trees are saved from time to time with their position in the log; the next start counts the
 * entries after it. If entries are missing (pruned, or the trees were never saved), the trees are
 * rebuilt from the records.
 */
import { setImmediate } from 'node:timers/promises';
import { KeelsonError } from '@keelson/errors';
import {
  DIGEST_BYTES,
  digestRecord,
  subpageOf,
  TREE_TYPES,
  treeTypeOf,
} from '../records/record-digest.ts';
import { rangeBelow } from '../records/record-path.ts';
import type { CommittedEntry, CommittedOperation, Snapshot } from '../records/stored-rows.ts';
import type {
  DamagedRecord,
  MerkleCorruptionReport,
  MerkleRoots,
  MerkleTrees,
  RecordSelection,
  ReducedTree,
  SubpageIndex,
  TreeType,
  WalEntry,
  WalOperation,
} from '../store.ts';
import { checkTrees } from './merkle-check.ts';
import { compositeRoot, MerkleTree, PAGE_COUNT, SUBPAGES_PER_PAGE } from './merkle-tree.ts';
import { WithheldTree } from './reduced-tree.ts';
import { repairRows } from './row-repair.ts';
import type { TreeRows } from './tree-rows.ts';
import { TREE_START } from './tree-rows.ts';

/** Rows or entries counted at a time, yielding to the event loop in between. */
const PAGE_ENTRIES = 200;
/** Few, so that notes become garbage while they are young. */
const COUNT_EVERY_ENTRIES = 100;
/** Beyond this number of notes, which take about a megabyte, the log is read instead. */
const MAX_NOTES = 4000;
/** Approximate maximum number of entries that the start after a crash has to count again. */
const SAVE_EVERY_ENTRIES = 20_000;

/** Changes of one commit to the trees. */
interface TreeNote {
  readonly sequence: number;
  readonly changes: readonly TreeChange[];
}

interface TreeChange {
  readonly tree: TreeType;
  readonly subpage: SubpageIndex;
  /** The previous leaf. */
  readonly replaced: Uint8Array | undefined;
  /** The current leaf. */
  readonly leaf: Uint8Array | undefined;
}

export interface TreeKeeperOptions {
  readonly backend: TreeRows;
  readonly head: () => Promise<number>;
  /** Runs work while this replica commits nothing. */
  readonly exclusively: (work: () => Promise<void>) => Promise<void>;
  /** Whether the barrier opens a value at its path. */
  readonly opens: (path: string, stored: Uint8Array) => Promise<boolean>;
  /**
   * Commits restored rows once more, so that all that knows them as damaged, on every replica, reads them again.
   */
  readonly announce: (restored: readonly WalOperation[]) => Promise<void>;
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
  /** Newest commits of this process, in order. */
  #notes: TreeNote[] = [];
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: TreeKeeperOptions) {
    this.#options = options;
  }

  /** The trees as of the head of the log at the time of the call, or a later one. Later calls change them. */
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
    const leftOut = new WithheldTree({ backend, exclusively, selection });
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

  /**
   * Notes the entries that this process has just committed, so that they need not be read from the
   * log.
   */
  note(entries: readonly CommittedEntry[]): void {
    if (this.#notes.length + entries.length > MAX_NOTES) this.#notes = [];
    for (const entry of entries) this.#notes.push(toNote(entry));
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
      // Another replica saved meanwhile, so the next save builds on its pages.
      if (isSaved) this.#savedPosition = position;
      else await this.#load();
    });
  }

  /**
   * Repairs rows that differ from what was committed, and rebuilds both trees from the records.
   * @returns records that are still damaged, which the trees count as they were committed
   */
  rebuild(): Promise<readonly DamagedRecord[]> {
    const { backend, exclusively, opens, announce } = this.#options;
    return this.#inTurn(async () => {
      let damaged: readonly DamagedRecord[] = [];
      const restored: WalOperation[] = [];
      const onRestored = (row: WalOperation) => restored.push(row);
      await exclusively(async () => {
        damaged = await repairRows({ backend, opens, onRestored });
      });
      await announce(restored);
      await this.#recount(damaged);
      return damaged;
    });
  }

  /**
   * Compares the trees with others counted from the records of the same moment; changes nothing. Commits go on, and
   * the trees follow them afterwards.
   */
  check(): Promise<MerkleCorruptionReport> {
    const { backend } = this.#options;
    return this.#inTurn(async () => {
      await this.#catchUp();
      const rebuilt = newTrees();
      await backend.readSnapshot(async (snapshot) => {
        if (!(await this.#countTo(snapshot.headSequence)))
          throw new KeelsonError('storage.conflict');
        Object.assign(rebuilt, await countTrees(snapshot));
      });
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
        for (const entry of entries) this.#count(toNote(entry));
      }
      await setImmediate();
    }
    return true;
  }

  /** Counts the next page of notes; returns false if the next commit is not among them. */
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
        // Counted as committed, because otherwise clusters with the intact record would copy the damage.
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

const toNote = ({ sequence, operations }: WalEntry | CommittedEntry): TreeNote => ({
  sequence,
  changes: operations.flatMap(changeOf),
});

/** @param operation without a digest if it was read from the log */
const changeOf = ({
  path,
  stored,
  replaced,
  digest,
}: WalOperation & Partial<CommittedOperation>): readonly TreeChange[] => {
  const tree = treeTypeOf(path);
  if (tree === undefined) return [];
  const after = digest ?? (stored && digestRecord(path, stored));
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
