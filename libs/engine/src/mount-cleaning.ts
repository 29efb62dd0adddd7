/**
 * Removes the data of mounts that no longer exist. A mount is gone if this service has seen it before, or has
 * found it missing twice; one found missing for the first time may be newer than the list.
 */
import { listOwners, type RecordScope, removeOwned, type Store } from '@keelson/storage';
import { OF_MOUNT } from './mount-records.ts';

export class MountCleaning {
  readonly #store: Store;
  readonly #seen = new Set<string>();

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Called with the mounts of every state of the cluster; returns the uuids it removed.
   * @param scopes of the records to remove: all, unless shared records are another cluster's
   */
  async reconcile(
    mountedUuids: readonly string[],
    scopes?: readonly RecordScope[],
  ): Promise<readonly string[]> {
    const mounted = new Set(mountedUuids);
    const stored = await listOwners(this.#store, OF_MOUNT.kind, scopes);
    const gone = [...stored].filter((uuid) => !mounted.has(uuid) && this.#seen.has(uuid));
    for (const uuid of [...mounted, ...stored]) this.#seen.add(uuid);
    for (const id of gone) {
      await removeOwned(this.#store, { kind: OF_MOUNT.kind, id }, scopes);
      this.#seen.delete(id);
    }
    return gone;
  }
}
