/** Reads that know what they read, so that what was made of them can be given again while it is the same. */
import type { Reads, Store } from '../store.ts';

export interface RecordedReads {
  readonly reads: Reads;
  /** Whether everything that was read so far would be read the same now. */
  readonly stand: () => Promise<boolean>;
}

/** A view of the store that remembers what is read through it. */
export const recordReads = async (store: Store): Promise<RecordedReads> => {
  // Before the first read: what changes during the reads counts as changed.
  let position = await store.position();
  const seen: string[] = [];
  return {
    reads: {
      read: (path) => {
        seen.push(path);
        return store.read(path);
      },
      list: (prefix, options) => {
        seen.push(prefix);
        return store.list(prefix, options);
      },
      scan: (prefix, options) => {
        seen.push(prefix);
        return store.scan(prefix, options);
      },
    },
    stand: async () => {
      const head = await store.position();
      // Mostly nothing at all was committed since the last look.
      if (head === position) return true;
      if (store.hasChangedSince(seen, position)) return false;
      // Two that look at once: the later position must not be taken back.
      position = Math.max(position, head);
      return true;
    },
  };
};
