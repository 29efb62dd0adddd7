/**
 * Heartbeats of secondaries as node records, so that all replicas know a heartbeat that one
 * received.
 */
import { collection, type RecordCollection, type Store, unlessDamaged } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import type { ReplicationKind } from '../domain/crossing.ts';
import { peerFactsShape } from '../domain/status-document.ts';

/** Content of the newest heartbeat of a secondary. */
const secondaryFactsShape = Type.Object({
  ...peerFactsShape.properties,
  id: Type.String(),
  /** Id of the cluster itself, not of the replication set. */
  localClusterId: Type.String(),
  lastRemoteWal: Type.Number(),
  /** Bytes of the stream and of answers since the secondary's process started. */
  bytesReceived: Type.Number(),
  /** Size of the newest comparison that the secondary completed. */
  resync: Type.Object({ records: Type.Number(), bytes: Type.Number() }),
});
export type SecondaryFacts = Shaped<typeof secondaryFactsShape>;

/** After this long without a heartbeat, or when our clock was set back, any sending time is accepted. */
const FORGOTTEN_AFTER_MS = 60_000;

const heartbeatShape = Type.Object({
  ...secondaryFactsShape.properties,
  /** Clock of the secondary. */
  sentAtMs: Type.Number(),
});

/** By kind, service and secondary. */
const heartbeats = collection('replication/heartbeats', {
  scope: 'node',
  version: 1,
  keys: 'paths',
  shape: heartbeatShape,
});

export class SecondaryHeartbeats {
  readonly #store: Store;
  readonly #records: RecordCollection<Shaped<typeof heartbeatShape>>;

  constructor(store: Store, kind: ReplicationKind, service: string) {
    this.#store = store;
    this.#records = heartbeats.below(kind, service);
  }

  /**
   * Records a heartbeat unless it was sent before the recorded one, and thus delayed or replayed.
   */
  note(facts: SecondaryFacts, sentAtMs: number): Promise<void> {
    return this.#store.transact(async (tx) => {
      const before = await unlessDamaged(this.#records.find(tx, facts.id));
      const isForgotten =
        Math.abs(facts.lastHeartbeatAtMs - (before?.lastHeartbeatAtMs ?? 0)) > FORGOTTEN_AFTER_MS;
      if (isForgotten || sentAtMs >= (before?.sentAtMs ?? 0))
        this.#records.write(tx, facts.id, { ...facts, sentAtMs });
    });
  }

  /**
   * Secondaries whose newest heartbeat cannot be read are missing until their next one.
   * @param isAdmitted whether a secondary is still admitted; all others are forgotten
   */
  async all(isAdmitted: (id: string) => Promise<boolean>): Promise<readonly SecondaryFacts[]> {
    const secondaries: SecondaryFacts[] = [];
    const { entries } = await this.#records.readableEntries(this.#store);
    for (const [id, { sentAtMs: _, ...facts }] of entries)
      if (await isAdmitted(id)) secondaries.push(facts);
      else await this.#store.transact((tx) => this.#records.delete(tx, id));
    return secondaries;
  }
}
