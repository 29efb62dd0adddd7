/**
 * Heartbeats of secondaries as node records, so that all replicas know a heartbeat that one
 * received.
 */
import { jsonRecords, type RecordCollection, type Store } from '@keelson/storage';
import type { ReplicationKind } from '../domain/crossing.ts';
import type { PeerFacts } from '../domain/status-document.ts';

/** Content of the newest heartbeat of a secondary. */
export interface SecondaryFacts extends PeerFacts {
  readonly id: string;
  /** Id of the cluster itself, not of the replication set. */
  readonly localClusterId: string;
  readonly lastRemoteWal: number;
  /** Bytes of the stream and of answers since the secondary's process started. */
  readonly bytesReceived: number;
  /** Size of the newest comparison that the secondary completed. */
  readonly resync: { readonly records: number; readonly bytes: number };
}

/** After this long without a heartbeat, or when our clock was set back, any sending time is accepted. */
const FORGOTTEN_AFTER_MS = 60_000;

interface StoredHeartbeat extends SecondaryFacts {
  /** Clock of the secondary. */
  readonly sentAtMs: number;
}

export class SecondaryHeartbeats {
  readonly #store: Store;
  readonly #records: RecordCollection<StoredHeartbeat>;

  constructor(store: Store, kind: ReplicationKind, service: string) {
    this.#store = store;
    this.#records = jsonRecords(`node/replication/heartbeats/${kind}/${service}/`);
  }

  /**
   * Records a heartbeat unless it was sent before the recorded one, and thus delayed or replayed.
   */
  note(facts: SecondaryFacts, sentAtMs: number): Promise<void> {
    return this.#store.transact(async (tx) => {
      const before = await this.#records.find(tx, facts.id);
      const isForgotten =
        Math.abs(facts.lastHeartbeatAtMs - (before?.lastHeartbeatAtMs ?? 0)) > FORGOTTEN_AFTER_MS;
      if (isForgotten || sentAtMs >= (before?.sentAtMs ?? 0))
        this.#records.write(tx, facts.id, { ...facts, sentAtMs });
    });
  }

  /** @param isAdmitted whether a secondary is still admitted; all others are forgotten */
  async all(isAdmitted: (id: string) => Promise<boolean>): Promise<readonly SecondaryFacts[]> {
    const secondaries: SecondaryFacts[] = [];
    for (const [id, { sentAtMs: _, ...facts }] of await this.#records.entries(this.#store))
      if (await isAdmitted(id)) secondaries.push(facts);
      else await this.#store.transact((tx) => this.#records.delete(tx, id));
    return secondaries;
  }
}
