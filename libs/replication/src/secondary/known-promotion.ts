/**
 * The highest promotion number of a set that this cluster knows. The number grows whenever another
 * cluster becomes primary. A secondary never follows a primary with a lower number than it knows,
 * whichever primary answers first, even after restarts. The number of a performance set is a local
 * record, so that a DR secondary has it when it replaces this cluster.
 */
import { KeelsonError } from '@keelson/errors';
import { collection, type RecordCollection, type Store } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import type { ReplicationKind } from '../domain/crossing.ts';

/** Records by id of the replication set. */
type Promotions = RecordCollection<Shaped<typeof promotionShape>>;

const promotionShape = Type.Object({ promotion: Type.Number() });

const promotions: Readonly<Record<ReplicationKind, Promotions>> = {
  performance: collection('replication/performance/promotions', {
    scope: 'local',
    version: 1,
    keys: 'paths',
    shape: promotionShape,
  }),
  dr: collection('replication/promotions', {
    scope: 'node',
    version: 1,
    keys: 'paths',
    shape: promotionShape,
  }),
};

export class KnownPromotion {
  readonly #store: Store;
  readonly #records: Promotions;
  readonly #clusterId: string;

  /** @param clusterId of the replication set */
  constructor(store: Store, kind: ReplicationKind, clusterId: string) {
    this.#store = store;
    this.#records = promotions[kind];
    this.#clusterId = clusterId;
  }

  /** The known promotion; 0 if none, or if the founding cluster is still the primary of the set. */
  async load(): Promise<number> {
    return (await this.#records.find(this.#store, this.#clusterId))?.promotion ?? 0;
  }

  /** Keeps a number that is higher than the known one. */
  async note(promotion: number): Promise<void> {
    if (promotion <= (await this.load())) return;
    await this.#store.transact(async (tx) => {
      const known = (await this.#records.find(tx, this.#clusterId))?.promotion ?? 0;
      if (promotion > known) this.#records.write(tx, this.#clusterId, { promotion });
    });
  }

  /**
   * Handles the number that a primary reports. @throws KeelsonError
   * `replication.superseded_primary` if a higher one is known
   */
  async accept(promotion: number): Promise<void> {
    const known = await this.load();
    if (promotion < known)
      throw new KeelsonError('replication.superseded_primary', { primary: promotion, known });
    await this.note(promotion);
  }
}
