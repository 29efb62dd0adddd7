/**
 * Short lists of the names directly below a prefix. Most are read with every request and seldom change,
 * such as the teams with access to a project. A list is valid while no commit has touched its prefix.
 */
import { LRUCache } from 'lru-cache';
import type { RecentChanges } from './recent-changes.ts';

const MAX_LISTS = 4000;
/** Approximate size of the longest list that is kept. */
const MAX_BYTES = 1024;
/** Overhead of a name in addition to its characters. */
const NAME_BYTES = 40;

interface CachedList {
  readonly names: readonly string[];
  /** Log position at which the names were valid. */
  readonly position: number;
}

export class ListCache {
  readonly #changes: RecentChanges;
  readonly #lists = new LRUCache<string, CachedList>({ max: MAX_LISTS });

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
    this.#lists.set(prefix, { names: cached.names, position });
    return cached.names;
  }

  /** @param position log position at which these were the names, or a later one */
  put(prefix: string, names: readonly string[], position: number): void {
    const bytes = names.reduce((sum, name) => sum + NAME_BYTES + name.length, 0);
    if (bytes <= MAX_BYTES) this.#lists.set(prefix, { names, position });
  }
}
