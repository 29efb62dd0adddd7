/**
 * Removes the data of mounts that no longer exist. A mount is gone if this service has seen it before, or has
 * found it missing twice; one found missing for the first time may be newer than the list.
 */
import type { Store } from '@keelson/storage';
import { ALL_MOUNTS_PREFIXES } from './mount-records.ts';

const PAGE_SIZE = 500;

const storedUuids = async (store: Store): Promise<ReadonlySet<string>> => {
  const names = await Promise.all(ALL_MOUNTS_PREFIXES.map((prefix) => store.list(prefix)));
  return new Set(names.flat().map((name) => name.replace(/\/$/, '')));
};

const removeBelow = async (store: Store, prefix: string): Promise<void> => {
  for (;;) {
    const removed = await store.transact(async (tx) => {
      const records = await tx.scan(prefix, { limit: PAGE_SIZE });
      for (const { path } of records) tx.delete(path);
      return records.length;
    });
    if (removed < PAGE_SIZE) return;
  }
};

export class MountCleaning {
  readonly #store: Store;
  readonly #seen = new Set<string>();

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Called with the mounts of every state of the cluster; returns the uuids it removed.
   * @param removes which prefixes: where shared records are another cluster's, the local ones alone
   */
  async reconcile(
    mountedUuids: readonly string[],
    removes: (prefix: string) => boolean = () => true,
  ): Promise<readonly string[]> {
    const mounted = new Set(mountedUuids);
    const stored = await storedUuids(this.#store);
    const gone = [...stored].filter((uuid) => !mounted.has(uuid) && this.#seen.has(uuid));
    for (const uuid of [...mounted, ...stored]) this.#seen.add(uuid);
    for (const uuid of gone) {
      for (const prefix of ALL_MOUNTS_PREFIXES)
        if (removes(prefix)) await removeBelow(this.#store, `${prefix}${uuid}/`);
      this.#seen.delete(uuid);
    }
    return gone;
  }
}
