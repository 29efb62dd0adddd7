import type { Reads, Store } from '../store.ts';

/**
 * A value in memory derived from all records below `prefixes`, as of each call: it is rebuilt only
 * when a record below them changed. `build` may read nothing else.
 */
export const deriveView = <T>(
  store: Store,
  prefixes: readonly string[],
  build: (reads: Reads) => Promise<T>,
): (() => Promise<T>) => {
  let built: { position: number; readonly value: Promise<T> } | undefined;
  return async () => {
    const position = await store.position();
    const current = built;
    if (current !== undefined && !store.hasChangedSince(prefixes, current.position)) {
      // Changes before old positions are unknown and count as changes, so the verified position is kept.
      current.position = position;
      return current.value;
    }
    // Callers of the same position share one building; a failed one is not kept.
    const value = store.transact((tx) => build(tx));
    const building = { position, value };
    built = building;
    value.catch(() => {
      if (built === building) built = undefined;
    });
    return value;
  };
};
