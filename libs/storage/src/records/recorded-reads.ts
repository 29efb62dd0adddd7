/** Records reads, so that a result derived from them can be reused while they are unchanged. */
import type { Reads, Store } from '../store.ts';

export interface RecordedReads {
  readonly reads: Reads;
  /** Whether every read so far would return the same now. */
  readonly isStillValid: () => Promise<boolean>;
}

/** A view of the store that records the reads made through it. */
export const recordReads = async (store: Store): Promise<RecordedReads> => {
  // Loaded before the first read, so that changes during the reads count.
  let position = await store.position();
  const seen: string[] = [];
  return {
    reads: {
      read: (path) => {
        seen.push(path);
        return store.read(path);
      },
      readAs: (path, decoder) => {
        seen.push(path);
        return store.readAs(path, decoder);
      },
      list: (prefix, options) => {
        seen.push(prefix);
        return store.list(prefix, options);
      },
      scan: (prefix, options) => {
        seen.push(prefix);
        return store.scan(prefix, options);
      },
      scanAs: (prefix, decoder, options) => {
        seen.push(prefix);
        return store.scanAs(prefix, decoder, options);
      },
    },
    isStillValid: async () => {
      const head = await store.position();
      // The usual case: nothing was committed since the previous call.
      if (head === position) return true;
      if (store.hasChangedSince(seen, position)) return false;
      // Concurrent calls: the later position is kept.
      position = Math.max(position, head);
      return true;
    },
  };
};
