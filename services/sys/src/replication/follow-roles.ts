/** Takes over what another replica did to the roles and keys of this cluster. */
import type { Store } from '@keelson/storage';
import type { Seal } from '../seal/seal.ts';
import { SEAL_KEY, sealRecords } from '../seal/seal-records.ts';
import { ROLE_PATHS } from './replication-records.ts';
import type { ReplicationState } from './replication-state.ts';

/** Runs until `signal` aborts. */
export const followRoles = async (
  store: Store,
  seal: Seal,
  state: ReplicationState,
  signal: AbortSignal,
): Promise<void> => {
  const sealPath = sealRecords.path(SEAL_KEY);
  const position = await store.wal.headSequence();
  for await (const { operations } of store.wal.follow(position, signal)) {
    const touched = (paths: readonly string[]): boolean =>
      operations.some(({ path }) => paths.includes(path));
    // What this replica does itself it has acted on already.
    if (state.isSwitching) continue;
    if (touched([sealPath])) {
      await seal.checkKeys();
      await seal.openWithKeyFile();
    }
    if (touched(ROLE_PATHS) && !seal.isSealed) await state.apply();
  }
};
