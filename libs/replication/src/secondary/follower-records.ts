/** State of a secondary. The elected replica keeps it as a node record, which the other replicas report. */
import { collection, type Fence, type Store, unlessDamaged } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { CONNECTION_STATES } from '../domain/connection-state.ts';
import { secondaryStateShape, startSecondary } from '../domain/secondary-state.ts';

const secondaryStatusShape = Type.Object({
  ...secondaryStateShape.properties,
  connectionState: Type.Enum(CONNECTION_STATES),
  /** Newest entry of the primary's log applied here; 0 until one was streamed. */
  lastRemoteWal: Type.Number(),
  lastStartMs: Type.Number(),
  /** Bytes of the stream and of answers since this process started. */
  bytesReceived: Type.Number(),
  /** While merkle-sync: records written so far. */
  copiedRecordCount: Type.Number(),
  /** Size of the newest completed comparison. */
  resync: Type.Object({ records: Type.Number(), bytes: Type.Number() }),
  /** Why the primary refuses this cluster, as after its revocation; absent once it has answered a heartbeat. */
  refusal: Type.Optional(Type.String()),
  /** Newest entry the primary is known to have. */
  lastKnownWal: Type.Number(),
  /** The newest heartbeat; absent before the first answer. */
  heartbeat: Type.Optional(
    Type.Object({
      atMs: Type.Number(),
      clockSkewMs: Type.Number(),
      roundTripMs: Type.Number(),
      primaryClusterAddresses: Type.Array(Type.String()),
      primaryApiAddress: Type.String(),
      lagEntryCount: Type.Number(),
    }),
  ),
});
export type SecondaryStatus = Shaped<typeof secondaryStatusShape>;

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

const differenceShape = Type.Array(
  Type.Tuple([Type.Enum(['replicated', 'local']), Type.Array(Type.Number())]),
);
/** Subpages by tree. */
export type Difference = Shaped<typeof differenceShape>;

const linkedShape = Type.Object({ link: Type.String() });
type Linked = Shaped<typeof linkedShape>;

const followerRequestShape = Type.Object({
  id: Type.String(),
  /** True compares with the primary again; false only ends a back-off. */
  compares: Type.Boolean(),
  /** Subpages whose records are compared even if the trees are equal. */
  suspects: differenceShape,
});
/** A request from any replica to the elected one. */
export type FollowerRequest = Shaped<typeof followerRequestShape>;

const sharedStatusShape = Type.Object({
  status: secondaryStatusShape,
  writtenAtMs: Type.Number(),
  /** The latest completed request; "" if there is none. */
  handled: Type.String(),
});
export type SharedStatus = Shaped<typeof sharedStatusShape>;

/** Number of epochs to keep; no stream still holds entries of older ones. */
const KEPT_EPOCHS = 16;

/**
 * Records by service. Those of an earlier link to a primary are ignored, and so are those that cannot be read: all
 * are written again soon.
 */
const statuses = collection('replication/followers', {
  scope: 'node',
  version: 1,
  shape: Type.Object({ ...sharedStatusShape.properties, ...linkedShape.properties }),
});
const requests = collection('replication/requests', {
  scope: 'node',
  version: 1,
  shape: Type.Object({ ...followerRequestShape.properties, ...linkedShape.properties }),
});
const keys = collection('replication/epochs', {
  scope: 'node',
  version: 1,
  shape: Type.Object({
    ...linkedShape.properties,
    /** Sealed under the key of the link, by epoch. */
    sealed: Type.Record(Type.String(), Type.String()),
  }),
});

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
    return this.#ofThisLink(await unlessDamaged(statuses.find(this.#store, this.#service)));
  }

  saveStatus(status: SharedStatus, fence: Fence): Promise<void> {
    const record = { ...status, link: this.#link };
    return this.#store.transact((tx) => statuses.write(tx, this.#service, record), { fence });
  }

  async findRequest(): Promise<FollowerRequest | undefined> {
    return this.#ofThisLink(await unlessDamaged(requests.find(this.#store, this.#service)));
  }

  request(request: FollowerRequest): Promise<void> {
    const record = { ...request, link: this.#link };
    return this.#store.transact((tx) => requests.write(tx, this.#service, record));
  }

  /** A stored epoch key, for use when the primary cannot be reached. */
  async findKey(epoch: number): Promise<Uint8Array | undefined> {
    const kept = this.#ofThisLink(await unlessDamaged(keys.find(this.#store, this.#service)));
    const sealed = kept?.sealed[epoch];
    return sealed === undefined ? undefined : Buffer.from(sealed, 'base64');
  }

  async keepKey(epoch: number, sealedKey: Uint8Array): Promise<void> {
    await this.#store.transact(async (tx) => {
      const kept =
        this.#ofThisLink(await unlessDamaged(keys.find(tx, this.#service)))?.sealed ?? {};
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
