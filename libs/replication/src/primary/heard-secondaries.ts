/** Heartbeats of secondaries as records of the node: whichever replica hears one, all know it. */
import { jsonRecords, type RecordCollection, type Store } from '@keelson/storage';
import type { ReplicationKind } from '../domain/crossing.ts';
import type { PeerFacts } from '../domain/status-document.ts';

/** What the newest heartbeat of a secondary told. */
export interface SecondaryFacts extends PeerFacts {
  readonly id: string;
  /** Of the cluster itself, not of the set. */
  readonly localClusterId: string;
  readonly lastRemoteWal: number;
  /** Over stream and answers, since the start of the secondary's process. */
  readonly bytesReceived: number;
  /** Of the newest comparison that the secondary completed. */
  readonly resync: { readonly records: number; readonly bytes: number };
}

/** After so long without any, or where our own clock was set back, a secondary's clock proves nothing. */
const FORGOTTEN_AFTER_MS = 60_000;

interface Heard extends SecondaryFacts {
  /** Clock of the secondary. */
  readonly sentAtMs: number;
}

export class HeardSecondaries {
  readonly #store: Store;
  readonly #records: RecordCollection<Heard>;

  constructor(store: Store, kind: ReplicationKind, service: string) {
    this.#store = store;
    this.#records = jsonRecords(`node/replication/heard/${kind}/${service}/`);
  }

  /** An older one that was held back, or is played again, tells nothing. */
  note(facts: SecondaryFacts, sentAtMs: number): Promise<void> {
    return this.#store.transact(async (tx) => {
      const before = await this.#records.find(tx, facts.id);
      const isForgotten =
        Math.abs(facts.lastHeartbeatAtMs - (before?.lastHeartbeatAtMs ?? 0)) > FORGOTTEN_AFTER_MS;
      if (isForgotten || sentAtMs >= (before?.sentAtMs ?? 0))
        this.#records.write(tx, facts.id, { ...facts, sentAtMs });
    });
  }

  /** @param isAdmitted those that are not any more are forgotten */
  async all(isAdmitted: (id: string) => Promise<boolean>): Promise<readonly SecondaryFacts[]> {
    const heard: SecondaryFacts[] = [];
    for (const [id, { sentAtMs: _, ...facts }] of await this.#records.entries(this.#store))
      if (await isAdmitted(id)) heard.push(facts);
      else await this.#store.transact((tx) => this.#records.delete(tx, id));
    return heard;
  }
}
