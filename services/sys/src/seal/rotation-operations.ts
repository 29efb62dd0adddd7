/** Rotation of the barrier key: state, manual rotation, automatic rotation. */
import type { Clock } from '@keelson/clock';
import { hasCode } from '@keelson/errors';
import {
  type Barrier,
  countEncryptions,
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
import { keyringTermRecords, rotationRecords } from './seal-records.ts';

export interface RotationContext {
  readonly store: Store;
  readonly barrier: Barrier;
  readonly clock: Clock;
  /** @throws KeelsonError `replication.read_only` when the keyring belongs to the primary */
  readonly requireOwnKeyring: () => void;
}

export const findRotationConfig = async ({ store }: RotationContext): Promise<RotationConfig> =>
  (await rotationRecords.find(store)) ?? DEFAULT_ROTATION;

export const rotateKey = async ({
  requireOwnKeyring,
  store,
  barrier,
}: RotationContext): Promise<void> => {
  requireOwnKeyring();
  await rotateBarrier(store, barrier, barrier.term + 1);
  // Read by replicas and, through them, by the services, so that all rotate to the same term.
  const { term } = barrier;
  await store.transact(async (tx) => {
    const known = await keyringTermRecords.find(tx);
    if ((known?.term ?? 0) < term) keyringTermRecords.write(tx, { term });
  });
};

export const configureRotation = (
  { store }: RotationContext,
  change: Partial<RotationConfig>,
): Promise<void> =>
  store.transact(async (tx) => {
    const current = (await rotationRecords.find(tx)) ?? DEFAULT_ROTATION;
    rotationRecords.write(tx, requireRotationConfig({ ...current, ...change }));
  });

/** Counts this process's encryptions, and rotates the key when it is due. */
export const rotateKeyWhenDue = async (context: RotationContext): Promise<void> => {
  await countEncryptions(context.store, context.barrier);
  if (
    isRotationDue(
      await findRotationConfig(context),
      context.barrier.keyStatus(),
      context.clock.nowMs(),
    )
  )
    await rotateKey(context);
};

/**
 * Newest term of the cluster, after adopting rotations made by other replicas. Until this replica follows another that
 * replaced the root key, it is the newest one under the former root key.
 */
export const currentKeyringTerm = async ({ store, barrier }: RotationContext): Promise<number> => {
  const announced = await keyringTermRecords.find(store);
  if ((announced?.term ?? 0) > barrier.term)
    try {
      await refreshBarrier(store, barrier);
    } catch (error) {
      if (!hasCode(error, 'barrier.wrong_root_key')) throw error;
    }
  return barrier.term;
};
