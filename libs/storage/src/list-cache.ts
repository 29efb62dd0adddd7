/**
 * Names directly below prefixes where they are few: most are asked for with every request and seldom change
 * (the teams with access to a project). One is as current as if it were read, since it is held against what
 * the newest commits changed.
 */
import type { RecentChanges } from './transaction/recent-changes.ts';

/** The one asked for longest ago goes first. */
const MAX_LISTS = 4000;
/** Of one, roughly. */
const MAX_BYTES = 1024;
/** Of a name besides its characters. */
const NAME_BYTES = 40;

interface CachedList {
  readonly names: readonly string[];
  /** Of the log, at which these were the names. */
  readonly position: number;
}

export class ListCache {
  readonly #changes: RecentChanges;
  readonly #lists = new Map<string, CachedList>();

  constructor(changes: RecentChanges) {
    this.#changes = changes;
  }

  /** @param position up to which the changes are known */
  find(prefix: string, position: number): readonly string[] | undefined {
    const cached = this.#lists.get(prefix);
    if (cached === undefined) return undefined;
    this.#lists.delete(prefix);
    if (this.#changes.hasChangedSince(prefix, cached.position)) return undefined;
    // Moved on, since what changed is not known for ever.
    this.#lists.set(prefix, { names: cached.names, position });
    return cached.names;
  }

  /** @param position at which they were these, or later */
  put(prefix: string, names: readonly string[], position: number): void {
    let bytes = 0;
    for (const name of names) {
      bytes += NAME_BYTES + name.length;
      if (bytes > MAX_BYTES) return;
    }
    this.#lists.set(prefix, { names, position });
    for (const oldest of this.#lists.keys()) {
      if (this.#lists.size <= MAX_LISTS) break;
      this.#lists.delete(oldest);
    }
  }
}
