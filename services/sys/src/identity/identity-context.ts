/** Dependencies of the operations on entities and groups. */
import type { Clock } from '@keelson/clock';
import type { Store, Transaction } from '@keelson/storage';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import type { Entity } from './domain/entity.ts';

export interface IdentityContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly mounts: () => Promise<MountIndex>;
  /** Called in the transaction that deletes an entity or merges it into another one. */
  readonly onEntityRemoved: (tx: Transaction, entity: Entity) => Promise<void>;
}
