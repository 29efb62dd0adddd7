/** Follows changes that other replicas make to the roles and keys of this cluster. */
import { hasCode } from '@keelson/errors';
import type { Store } from '@keelson/storage';
import type { Seal } from '../seal/seal.ts';
import { sealRecords, shareSealOf, shareSealRecords } from '../seal/seal-records.ts';
import { ROLE_PATHS } from './replication-records.ts';
import type { ReplicationState } from './replication-state.ts';

/** Adopts the newest key shares of the primary, which are valid here, too. */
const adoptShares = async (store: Store, seal: Seal): Promise<void> => {
  await store.transact(async (tx) => {
    const received = await shareSealRecords.find(tx);
    const record = await sealRecords.find(tx);
    if (received === undefined || record === undefined) return;
    const { fingerprints: known = [], ...seals } = record;
    const { fingerprints = [], wrappedForShares } = received;
    // An activation token has no fingerprints: they follow with the records of the primary.
    if (record.wrappedForShares === wrappedForShares && fingerprints.length <= known.length) return;
    sealRecords.write(tx, { ...seals, ...shareSealOf(received) });
  });
  seal.resetShares();
};

/** Runs until `signal` aborts. @throws KeelsonError `storage.wal_pruned` when a restored copy replaced the records */
export const followRoles = async (
  store: Store,
  seal: Seal,
  state: ReplicationState,
  signal: AbortSignal,
): Promise<void> => {
  const shareSealPath = shareSealRecords.path;
  const isSecondary = async (): Promise<boolean> => {
    const { performance, dr } = await state.roles();
    return performance?.role === 'secondary' || dr?.role === 'secondary';
  };
  const follow = async (isTouched: (paths: readonly string[]) => boolean): Promise<void> => {
    // This replica has already applied its own changes. The keys come first: the records are encrypted under them.
    if (!state.isSwitching) await seal.followKeys();
    if (isTouched([shareSealPath]) && !seal.isSealed && (await isSecondary()))
      await adoptShares(store, seal);
    if (isTouched(ROLE_PATHS) && !seal.isSealed && !state.isSwitching) await state.apply();
  };
  const position = await store.wal.headSequence();
  // The log of the former records has ended, so that this worker starts again.
  await seal.followRestoration();
  // Keys may have been replaced, and shares may have arrived, before this replica started to follow.
  await follow((paths) => paths.includes(shareSealPath));
  const followed = [sealRecords.path, shareSealPath, ...ROLE_PATHS];
  for await (const since of store.wal.changes(followed, position, signal)) {
    try {
      await follow((paths) => store.hasChangedSince(paths, since));
    } catch (error) {
      if (!hasCode(error, 'barrier.wrong_root_key')) throw error;
      // The keys were replaced after they had been followed.
      await seal.followKeys();
    }
  }
};
