/** A primary and a secondary of one service in this process, with messages that can be damaged in between. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type Bus, InProcessBus } from '@keelson/bus';
import { systemClock } from '@keelson/clock';
import { InProcessLeaseStore } from '@keelson/locks';
import {
  deriveLinkKey,
  FilterViews,
  generateLinkKeyPair,
  NO_GROUPS,
  Primary,
  PublicationFaults,
  Secondary,
  type SecondaryStatus,
  StoredMembership,
  WalPublisher,
} from '@keelson/replication';
import {
  type Barrier,
  createBarrier,
  loadWrappedKeyring,
  openBarrierFor,
  openSqliteStore,
  type Store,
} from '@keelson/storage';
import { temporaryDirectory } from '@keelson/testkit';

const KIND = 'dr';
const SERVICE = 'pki';
const SECONDARY_ID = 'secondary';
const ROOT_KEY = new Uint8Array(32).fill(1);
/** Repeats at once a request whose answer was damaged in transit. */
const BACK_OFF = { firstMs: 1, maxMs: 1 };
const HEARTBEAT_INTERVAL_MS = 20;

export interface LinkedStores extends AsyncDisposable {
  readonly bus: Bus;
  readonly primary: Store;
  readonly secondary: Store;
  /** Subject on the bus at which the primary answers requests. */
  readonly subject: string;
  readonly secondaryId: string;
  /** The key under which the requests of an admitted secondary are sealed. */
  readonly linkKey: Uint8Array;
  status(): SecondaryStatus;
  until(predicate: (status: SecondaryStatus) => boolean): Promise<void>;
}

/** @param onTheWay wraps the secondary's view of the bus */
export const linkStores = async (onTheWay: (bus: Bus) => Bus): Promise<LinkedStores> => {
  const folder = await temporaryDirectory();
  const open = async (name: string): Promise<{ store: Store; barrier: Barrier }> => {
    const barrier = createBarrier();
    const store = await openSqliteStore({ file: join(folder.path, `${name}.db`), barrier });
    await openBarrierFor(store, barrier, ROOT_KEY);
    return { store, barrier };
  };
  const bus = new InProcessBus();
  const [primary, secondary] = [await open('primary'), await open('secondary')];
  const membership = new StoredMembership(primary.store, KIND);
  const clusterId = randomUUID();
  await membership.found(clusterId);
  const keys = generateLinkKeyPair();
  await membership.admit(SECONDARY_ID, keys.publicKey);
  const common = { bus, membership, kind: KIND, service: SERVICE, version: '1.0.0' } as const;
  const { store } = primary;
  const ending = new AbortController();
  await new Primary({
    ...common,
    store,
    views: new FilterViews({ store, membership, kind: KIND, groups: NO_GROUPS }),
    handover: async () => ({
      rootKey: Uint8Array.from(ROOT_KEY),
      wrappedKeyring: await loadWrappedKeyring(store),
    }),
    clusterAddresses: async () => ['nats://127.0.0.1:4222'],
    onSuperseded: () => undefined,
    // The content of a request does not matter to the messages that carry it.
    serveForwarded: async (request) => request,
  }).serve(ending.signal);
  const publisher = new WalPublisher({
    ...common,
    store,
    leases: new InProcessLeaseStore(),
    faults: new PublicationFaults(systemClock, () => undefined),
  });
  const primaryPublicKey = (await membership.identity()).keys.publicKey;
  const follower = new Secondary({
    ...secondary,
    bus: onTheWay(bus),
    leases: new InProcessLeaseStore(),
    kind: KIND,
    service: SERVICE,
    version: common.version,
    identity: { clusterId, secondaryId: SECONDARY_ID, keys, primaryPublicKey },
    apiAddress: '',
    clusterAddress: '',
    backOff: BACK_OFF,
    heartbeatIntervalMs: HEARTBEAT_INTERVAL_MS,
  });
  const running = [publisher.run(ending.signal), follower.run(ending.signal)];
  return {
    bus,
    primary: store,
    secondary: secondary.store,
    subject: `replication.${clusterId}.${SERVICE}`,
    secondaryId: SECONDARY_ID,
    linkKey: deriveLinkKey({
      own: keys,
      peerPublicKey: primaryPublicKey,
      clusterId,
      secondaryId: SECONDARY_ID,
    }),
    status: () => follower.status(),
    until: async (predicate) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const check = (): void => {
        if (predicate(follower.status())) resolve();
      };
      const forget = follower.onChange(check);
      check();
      await promise;
      forget();
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      await Promise.all(running);
      await bus.close();
      for (const one of [primary.store, secondary.store]) await one.close();
      await folder[Symbol.asyncDispose]();
    },
  };
};
