/** Copies the store of this service for backups of the whole cluster, which sys makes. */
import type { ReplicationMemberDefinition } from '@keelson/proto/sys/v1/replication';
import type { Membership } from '@keelson/replication';
import type { RpcService } from '@keelson/rpc';
import {
  type Barrier,
  findUnreadable,
  loadRestoration,
  refreshBarrier,
  type Store,
} from '@keelson/storage';

type StoreCopyRpc = Pick<
  RpcService<typeof ReplicationMemberDefinition>,
  'copyStore' | 'stagePage' | 'replaceRecords'
>;

const NO_PAGE = Buffer.alloc(0);

export interface StoreCopyParts {
  readonly store: Store;
  readonly barrier: Barrier;
  /** Ends the work of replication. */
  readonly stopReplication: () => Promise<void>;
}

export const storeCopyRpc = ({
  store,
  barrier,
  stopReplication,
}: StoreCopyParts): StoreCopyRpc => ({
  copyStore: async function* () {
    const copy = await store.copies.take();
    try {
      yield { sequence: BigInt(copy.sequence), page: NO_PAGE };
      for await (const page of copy.pages) yield { sequence: 0n, page: Buffer.from(page) };
    } finally {
      await copy.close();
    }
  },
  stagePage: async ({ restoration, page }) => {
    await store.copies.stage(restoration, page);
    const unreadable = findUnreadable(page, barrier);
    if (unreadable.every(({ kind }) => kind !== 'undecryptable'))
      return { unreadable: [...unreadable] };
    // Another replica may have added the key.
    await refreshBarrier(store, barrier);
    return { unreadable: [...findUnreadable(page, barrier)] };
  },
  replaceRecords: async ({ restoration, records, sequence }) => {
    // An interrupted restoration is finished by repeating all of its steps.
    if ((await loadRestoration(store))?.id === restoration) return {};
    // Work in progress would write data derived from the former records.
    await stopReplication();
    await store.copies.replace(restoration, {
      records: Number(records),
      sequence: Number(sequence),
    });
    // The copy may have another keyring, or an older one that lacks keys of the current one.
    barrier.seal();
    return {};
  },
});

/**
 * The membership, with a new log id after each restoration of the store: positions in the former log are
 * meaningless, so secondaries must compare their records with the restored ones. The id contains no full
 * stop, because that would begin the generation of a paths filter.
 */
export const afterRestoration = (membership: Membership, store: Store): Membership => ({
  identity: async () => {
    const identity = await membership.identity();
    const restoration = await loadRestoration(store);
    return restoration === undefined
      ? identity
      : { ...identity, logId: `${identity.logId}-${restoration.id}` };
  },
  currentEpoch: () => membership.currentEpoch(),
  findEpoch: (epoch) => membership.findEpoch(epoch),
  findSecondary: (id) => membership.findSecondary(id),
  unfilteredSecondaries: () => membership.unfilteredSecondaries(),
  renewLog: () => membership.renewLog(),
  findFilter: (id, groups) => membership.findFilter(id, groups),
  filteredSecondaries: () => membership.filteredSecondaries(),
});
