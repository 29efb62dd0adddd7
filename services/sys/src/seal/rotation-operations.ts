/** The barrier's key: its state, its replacement, and what replaces it by itself. */
import type { Clock } from '@keelson/clock';
import {
  type Barrier,
  countEncryptions,
  type KeyStatus,
  refreshBarrier,
  rotateBarrier,
  type Store,
} from '@keelson/storage';
import {
  DEFAULT_ROTATION,
  isRotationDue,
  type RotationConfig,
  requireRotationConfig,
} from './domain/rotation-config.ts';
import {
  KEYRING_TERM_KEY,
  keyringTermRecords,
  ROTATION_KEY,
  rotationRecords,
} from './seal-records.ts';

export interface RotationOperations {
  keyStatus(): KeyStatus;
  rotate(): Promise<void>;
  config(): Promise<RotationConfig>;
  configure(change: Partial<RotationConfig>): Promise<void>;
  /** Counts this process's encryptions and rotates when it is time. */
  rotateWhenDue(): Promise<void>;
  /** Newest term of the cluster; takes over what another replica rotated. */
  currentTerm(): Promise<number>;
}

export const createRotationOperations = ({
  store,
  barrier,
  clock,
  requireOwnKeyring,
}: {
  readonly store: Store;
  readonly barrier: Barrier;
  readonly clock: Clock;
  /** @throws KeelsonError `replication.read_only` where the keyring is the primary's */
  readonly requireOwnKeyring: () => void;
}): RotationOperations => {
  const config = async (): Promise<RotationConfig> =>
    (await rotationRecords.find(store, ROTATION_KEY)) ?? DEFAULT_ROTATION;

  const rotate = async (): Promise<void> => {
    requireOwnKeyring();
    await rotateBarrier(store, barrier, barrier.term + 1);
    // Read by replicas and, through them, by the services: all rotate to the same term.
    const { term } = barrier;
    await store.transact(async (tx) => {
      const known = await keyringTermRecords.find(tx, KEYRING_TERM_KEY);
      if ((known?.term ?? 0) < term) keyringTermRecords.write(tx, KEYRING_TERM_KEY, { term });
    });
  };

  return {
    keyStatus: () => barrier.keyStatus(),
    rotate,
    config,
    configure: (change) =>
      store.transact(async (tx) => {
        const current = (await rotationRecords.find(tx, ROTATION_KEY)) ?? DEFAULT_ROTATION;
        rotationRecords.write(tx, ROTATION_KEY, requireRotationConfig({ ...current, ...change }));
      }),
    rotateWhenDue: async () => {
      await countEncryptions(store, barrier);
      if (isRotationDue(await config(), barrier.keyStatus(), clock.nowMs())) await rotate();
    },
    currentTerm: async () => {
      const announced = await keyringTermRecords.find(store, KEYRING_TERM_KEY);
      if ((announced?.term ?? 0) > barrier.term) await refreshBarrier(store, barrier);
      return barrier.term;
    },
  };
};
