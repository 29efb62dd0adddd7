/**
 * Lists of the names directly below a prefix. Many are read with every request and seldom change, such as the
 * teams with access to a project. A list is valid while no commit has touched its prefix.
 */
import { LRUCache } from 'lru-cache';
import type { RecentChanges } from './recent-changes.ts';

/** Approximate memory of all lists. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Approximate memory of the longest list that is cached. */
const MAX_LIST_BYTES = 32 * 1024;
/** Overhead of a name, and of a list, in addition to its characters. */
const NAME_BYTES = 40;
const LIST_BYTES = 200;

interface CachedList {
  readonly names: readonly string[];
  /** Log position at which the names were valid. */
  position: number;
}

export class ListCache {
  readonly #changes: RecentChanges;
  readonly #lists = new LRUCache<string, CachedList>({
    maxSize: MAX_BYTES,
    maxEntrySize: MAX_LIST_BYTES,
    sizeCalculation: ({ names }, prefix) =>
      names.reduce((sum, name) => sum + NAME_BYTES + name.length, LIST_BYTES + prefix.length),
  });

  constructor(changes: RecentChanges) {
    this.#changes = changes;
  }

  /** @param position log position up to which the changes are known */
  find(prefix: string, position: number): readonly string[] | undefined {
    const cached = this.#lists.get(prefix);
    if (cached === undefined) return undefined;
    if (this.#changes.hasChangedSince(prefix, cached.position)) {
      this.#lists.delete(prefix);
      return undefined;
    }
    // Moved forward, because old changes are forgotten.
    cached.position = position;
    return cached.names;
  }

  /** @param position log position at which these were the names, or a later one */
  put(prefix: string, names: readonly string[], position: number): void {
    this.#lists.set(prefix, { names, position });
  }
}
