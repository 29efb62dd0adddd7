/** State of a secondary. The elected replica keeps it as a node record, which the other replicas report. */
import {
  type Fence,
  jsonRecords,
  type Store,
  type SubpageIndex,
  type TreeType,
} from '@keelson/storage';
import type { ConnectionState } from '../domain/connection-state.ts';
import { type SecondaryState, startSecondary } from '../domain/secondary-state.ts';

export interface SecondaryStatus extends SecondaryState {
  readonly connectionState: ConnectionState;
  /** Newest entry of the primary's log applied here; 0 until one was streamed. */
  readonly lastRemoteWal: number;
  readonly lastStartMs: number;
  /** Bytes of the stream and of answers since this process started. */
  readonly bytesReceived: number;
  /** While merkle-sync: records written so far. */
  readonly copiedRecordCount: number;
  /** Size of the newest completed comparison. */
  readonly resync: { readonly records: number; readonly bytes: number };
  /** Why the primary refuses this cluster, as after its revocation; undefined once it has answered a heartbeat. */
  readonly refusal?: string | undefined;
  /** Newest entry the primary is known to have. */
  readonly lastKnownWal: number;
  /** The newest heartbeat; undefined before the first answer. */
  readonly heartbeat:
    | {
        readonly atMs: number;
        readonly clockSkewMs: number;
        readonly roundTripMs: number;
        readonly primaryClusterAddresses: readonly string[];
        /** undefined in a record written before the primary sent it. */
        readonly primaryApiAddress?: string;
        readonly lagEntryCount: number;
      }
    | undefined;
}

/** Before the first run. */
export const NOT_STARTED: SecondaryStatus = {
  ...startSecondary(false),
  connectionState: 'idle',
  lastRemoteWal: 0,
  lastStartMs: 0,
  bytesReceived: 0,
  copiedRecordCount: 0,
  resync: { records: 0, bytes: 0 },
  lastKnownWal: 0,
  heartbeat: undefined,
};

/** Subpages by tree. */
export type Difference = readonly (readonly [TreeType, readonly SubpageIndex[]])[];

interface Linked {
  readonly link: string;
}

/** A request from any replica to the elected one. */
export interface FollowerRequest {
  readonly id: string;
  /** True compares with the primary again; false only ends a back-off. */
  readonly compares: boolean;
  /** Subpages whose records are compared even if the trees are equal. */
  readonly suspects: Difference;
}

export interface SharedStatus {
  readonly status: SecondaryStatus;
  readonly writtenAtMs: number;
  /** The latest completed request; "" if there is none. */
  readonly handled: string;
}

/** Sealed under the key of the link, by epoch. */
interface KeptKeys extends Linked {
  readonly sealed: Readonly<Record<string, string>>;
}

/** Number of epochs to keep; no stream still holds entries of older ones. */
const KEPT_EPOCHS = 16;

/** Records by service. Those of an earlier link to a primary are ignored. */
const statuses = jsonRecords<SharedStatus & Linked>('node/replication/followers/');
const requests = jsonRecords<FollowerRequest & Linked>('node/replication/requests/');
const keys = jsonRecords<KeptKeys>('node/replication/epochs/');

export class FollowerRecords {
  readonly #store: Store;
  readonly #service: string;
  readonly #link: string;

  /** @param link names the link to the primary */
  constructor(store: Store, service: string, link: string) {
    this.#store = store;
    this.#service = service;
    this.#link = link;
  }

  async findStatus(): Promise<SharedStatus | undefined> {
    return this.#ofThisLink(await statuses.find(this.#store, this.#service));
  }

  saveStatus(status: SharedStatus, fence: Fence): Promise<void> {
    const record = { ...status, link: this.#link };
    return this.#store.transact((tx) => statuses.write(tx, this.#service, record), { fence });
  }

  async findRequest(): Promise<FollowerRequest | undefined> {
    return this.#ofThisLink(await requests.find(this.#store, this.#service));
  }

  request(request: FollowerRequest): Promise<void> {
    const record = { ...request, link: this.#link };
    return this.#store.transact((tx) => requests.write(tx, this.#service, record));
  }

  /** A stored epoch key, for use when the primary cannot be reached. */
  async findKey(epoch: number): Promise<Uint8Array | undefined> {
    const kept = this.#ofThisLink(await keys.find(this.#store, this.#service));
    const sealed = kept?.sealed[epoch];
    return sealed === undefined ? undefined : Buffer.from(sealed, 'base64');
  }

  async keepKey(epoch: number, sealedKey: Uint8Array): Promise<void> {
    await this.#store.transact(async (tx) => {
      const kept = this.#ofThisLink(await keys.find(tx, this.#service))?.sealed ?? {};
      const sealed: Record<string, string> = {
        ...kept,
        [epoch]: Buffer.from(sealedKey).toString('base64'),
      };
      const newest = Object.entries(sealed).slice(-KEPT_EPOCHS);
      keys.write(tx, this.#service, { link: this.#link, sealed: Object.fromEntries(newest) });
    });
  }

  #ofThisLink<Found extends Linked>(found: Found | undefined): Found | undefined {
    return found?.link === this.#link ? found : undefined;
  }
}
