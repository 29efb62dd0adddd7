/** Dependencies of the operations on entities and groups. */
import type { Clock } from '@keelson/clock';
import type { Store, Transaction } from '@keelson/storage';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import type { Entity } from './domain/entity.ts';

export interface IdentityContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly mounts: () => Promise<MountIndex>;
  /** Called in the transaction that deletes an entity. */
  readonly onEntityRemoved: (tx: Transaction, entity: Entity) => Promise<void>;
  /**
   * Called in the transaction that merges an entity into another one.
   * @param force whether what only one of them can have is that of the remaining entity
   */
  readonly onEntityMerged: (
    tx: Transaction,
    from: Entity,
    into: Entity,
    force: boolean,
  ) => Promise<void>;
}
