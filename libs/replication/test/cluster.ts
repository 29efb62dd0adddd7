/** Clusters of one service each, composed as in a composition root, and a checker. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { JetStreamBus } from '@keelson/bus/jetstream';
import { systemClock } from '@keelson/clock';
import { hasCode } from '@keelson/errors';
import { InProcessLeaseStore } from '@keelson/locks';
import {
  createBarrier,
  loadWrappedKeyring,
  openBarrierFor,
  openSqliteStore,
  type Store,
  type TreeType,
} from '@keelson/storage';
import { temporaryDirectory } from '@keelson/testkit';
import { nonceOf, openMessage } from '../src/cipher/sealed-message.ts';
import {
  deriveLinkKey,
  type FilterCatalog,
  FilteredPublishers,
  FilterViews,
  generateLinkKeyPair,
  mountGroup,
  Primary,
  PublicationFaults,
  passesFilter,
  type ReplicationKind,
  recordGroups,
  Secondary,
  type SecondaryIdentity,
  type SecondaryStatus,
  StoredMembership,
  WalPublisher,
  type WalPublisherOptions,
} from '../src/replication.ts';
import { parseSealedQuestion } from '../src/wire/questions.ts';

export const SERVICE = 'pki';
export const GROUPS = recordGroups([{ below: 'shared/mounts/', named: 'mount', segment: 'first' }]);

/** Each mount is at the path of its uuid. */
const catalogOf = (store: Store): FilterCatalog => ({
  withheldGroups: async (filter, groups) => {
    const uuids = (await store.list('shared/mounts/')).map((name) => name.replace('/', ''));
    return (groups ?? uuids.map(mountGroup)).filter(
      (group) => !passesFilter(filter, { type: 'mount', path: `${group.slice('mount/'.length)}/` }),
    );
  },
});

/** Faults of a publisher that no operator watches. */
export const unreported = (): PublicationFaults =>
  new PublicationFaults(systemClock, () => undefined);

const BACK_OFF = { firstMs: 10, maxMs: 100 };

export const put = (store: Store, values: Readonly<Record<string, string>>): Promise<void> =>
  store.transact((tx) => {
    for (const [path, value] of Object.entries(values)) tx.write(path, Buffer.from(value));
  });

/** Work that runs until it is stopped. */
export interface Running {
  stop(): Promise<void>;
}

const start = (run: (signal: AbortSignal) => Promise<void>): Running => {
  const ending = new AbortController();
  const running = run(ending.signal);
  return {
    stop: async () => {
      ending.abort();
      await running;
    },
  };
};

export interface TestLocation extends AsyncDisposable {
  readonly store: Store;
  readonly barrier: ReturnType<typeof createBarrier>;
  readonly leases: InProcessLeaseStore;
  /** Run in reverse order before the store closes. */
  readonly endings: (() => Promise<void>)[];
}

/** @param file of a store that outlives this use of it; absent means a new one, removed at the end */
const openPlace = async (rootKey: Uint8Array, file?: string): Promise<TestLocation> => {
  const directory = file === undefined ? await temporaryDirectory() : undefined;
  const barrier = createBarrier();
  const store = await openSqliteStore({
    file: file ?? join(directory?.path ?? '', 'store.db'),
    barrier,
  });
  await openBarrierFor(store, barrier, rootKey);
  const leases = new InProcessLeaseStore();
  const endings: (() => Promise<void>)[] = [];
  return {
    store,
    barrier,
    leases,
    endings,
    async [Symbol.asyncDispose]() {
      for (const end of endings.reverse()) await end();
      await store.close();
      await directory?.[Symbol.asyncDispose]();
    },
  };
};

export interface TestPrimary extends TestLocation {
  readonly clusterId: string;
  readonly kind: ReplicationKind;
  readonly rootKey: Uint8Array;
  readonly bus: JetStreamBus;
  readonly membership: StoredMembership;
  readonly primary: Primary;
  readonly views: FilterViews;
  readonly filtered: FilteredPublishers;
  /** Promotions of other clusters that secondaries reported. */
  readonly heardOf: readonly number[];
  publish(limits?: WalPublisherOptions['limits']): Running;
  /** Stops answering, like a primary that was lost after it had published. */
  silence(): void;
  /** Sends this version from now on. */
  upgrade(version: string): void;
}

/** Software version of all clusters, unless a test sets another. */
const VERSION = '1.2.0';

/** Primaries seal their keyring under it, and so does every secondary once it was activated. */
const PRIMARY_ROOT_KEY = new Uint8Array(32).fill(1);

/** Opens the replication set of the store, or creates it in a new store. Returns its id. */
const openSet = async (membership: StoredMembership): Promise<string> => {
  try {
    return (await membership.identity()).clusterId;
  } catch (error) {
    if (!hasCode(error, 'replication.not_ready')) throw error;
    const clusterId = randomUUID();
    await membership.found(clusterId);
    return clusterId;
  }
};

export const startPrimary = async (
  natsUrl: string,
  kind: ReplicationKind = 'performance',
  file?: string,
): Promise<TestPrimary> => {
  const rootKey = PRIMARY_ROOT_KEY;
  const place = await openPlace(rootKey, file);
  const { store, leases } = place;
  const bus = new JetStreamBus({ servers: natsUrl });
  place.endings.push(() => bus.close());
  const membership = new StoredMembership(store, kind, undefined, catalogOf(store));
  const clusterId = await openSet(membership);
  const software = { version: VERSION };
  const views = new FilterViews({ store, membership, kind, groups: GROUPS });
  const filtered = new FilteredPublishers({
    version: VERSION,
    store,
    bus,
    leases,
    membership,
    kind,
    service: SERVICE,
    faults: unreported(),
    views,
    retryDelayMs: 20,
    onFailure: (error) => {
      throw error;
    },
  });
  const heardOf: number[] = [];
  const primary = new Primary({
    store,
    bus,
    membership,
    views,
    kind,
    service: SERVICE,
    get version() {
      return software.version;
    },
    onFiltered: (id) => filtered.ensure(id),
    handover: async () => ({ rootKey, wrappedKeyring: await loadWrappedKeyring(store) }),
    clusterAddresses: async () => ['nats://primary.example:4222'],
    onSuperseded: (promotion) => heardOf.push(promotion),
  });
  const serving = new AbortController();
  await primary.serve(serving.signal);
  place.endings.push(async () => serving.abort());
  return {
    ...place,
    clusterId,
    kind,
    rootKey,
    bus,
    membership,
    primary,
    views,
    filtered,
    heardOf,
    silence: () => serving.abort(),
    upgrade: (version) => {
      software.version = version;
    },
    publish: (limits) => {
      const publisher = new WalPublisher({
        store,
        bus,
        leases,
        membership,
        kind,
        service: SERVICE,
        faults: unreported(),
        get version() {
          return software.version;
        },
        retryDelayMs: 20,
        ...(limits && { limits }),
      });
      const running = start(async (signal) => {
        await Promise.all([publisher.run(signal), filtered.run(signal)]);
      });
      place.endings.push(() => running.stop());
      return running;
    },
  };
};

export interface TestSecondary extends TestLocation {
  readonly id: string;
  readonly failures: unknown[];
  readonly secondary: Secondary;
  /** Stops following and starts again, as a restarted process would. */
  restart(): Promise<void>;
  until(predicate: (status: SecondaryStatus) => boolean): Promise<void>;
  /** Waits until everything that the primary has committed so far is applied here. */
  untilCaughtUp(primary: TestPrimary): Promise<void>;
}

export const startSecondary = async (
  natsUrl: string,
  primary: TestPrimary,
  id: string | SecondaryIdentity = 'secondary-1',
  onAnswer?: (answer: Uint8Array) => void,
  heartbeatIntervalMs?: number,
): Promise<TestSecondary> =>
  runSecondary(
    natsUrl,
    primary.kind,
    typeof id === 'string' ? await admit(primary, id) : id,
    await openPlace(NEW_ROOT_KEY),
    onAnswer,
    heartbeatIntervalMs,
  );

/** A secondary whose store was used before, by this process or another. */
export const resumeSecondary = async (
  natsUrl: string,
  kind: ReplicationKind,
  identity: SecondaryIdentity,
  file: string,
  version?: string,
): Promise<TestSecondary> =>
  runSecondary(
    natsUrl,
    kind,
    identity,
    await openPlace(PRIMARY_ROOT_KEY, file),
    undefined,
    undefined,
    version,
  );

/** Admits a secondary. Returns the identity that the primary gives it at its activation. */
export const admit = async (
  { membership, clusterId }: TestPrimary,
  secondaryId: string,
): Promise<SecondaryIdentity> => {
  const keys = generateLinkKeyPair();
  await membership.admit(secondaryId, keys.publicKey);
  const { keys: primaryKeys } = await membership.identity();
  return { clusterId, secondaryId, keys, primaryPublicKey: primaryKeys.publicKey };
};

/** Root key of a cluster before its activation. */
const NEW_ROOT_KEY = new Uint8Array(32).fill(2);

/** Reports the decrypted answers to a secondary. */
const listenTo = (
  bus: JetStreamBus,
  { keys, primaryPublicKey, clusterId, secondaryId }: SecondaryIdentity,
  onAnswer: (answer: Uint8Array) => void,
): void => {
  const linkKey = deriveLinkKey({
    own: keys,
    peerPublicKey: primaryPublicKey,
    clusterId,
    secondaryId,
  });
  const request = bus.request.bind(bus);
  bus.request = async (subject, payload, options) => {
    const answer = await request(subject, payload, options);
    const { sealed } = parseSealedQuestion(payload);
    onAnswer(openMessage(linkKey, `answer ${subject} ${nonceOf(sealed)}`, answer));
    return answer;
  };
};

const runSecondary = async (
  natsUrl: string,
  kind: ReplicationKind,
  identity: SecondaryIdentity,
  place: TestLocation,
  onAnswer?: (answer: Uint8Array) => void,
  heartbeatIntervalMs = 50,
  version = VERSION,
): Promise<TestSecondary> => {
  const bus = new JetStreamBus({ servers: natsUrl });
  if (onAnswer !== undefined) listenTo(bus, identity, onAnswer);
  place.endings.push(() => bus.close());
  const failures: unknown[] = [];
  const secondary = new Secondary({
    ...place,
    bus,
    kind,
    service: SERVICE,
    version,
    identity,
    groups: GROUPS,
    localClusterId: async () => `cluster of ${identity.secondaryId}`,
    apiAddress: 'https://secondary.example',
    clusterAddress: 'nats://secondary.example:4222',
    backOff: BACK_OFF,
    heartbeatIntervalMs,
    onFailure: (error) => failures.push(error),
  });
  let running = start((signal) => secondary.run(signal));
  place.endings.push(() => running.stop());
  const until: TestSecondary['until'] = async (predicate) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = (): void => {
      if (predicate(secondary.status())) resolve();
    };
    const forget = secondary.onChange(check);
    check();
    await promise;
    forget();
  };
  return {
    ...place,
    id: identity.secondaryId,
    failures,
    secondary,
    restart: async () => {
      await running.stop();
      running = start((signal) => secondary.run(signal));
    },
    until,
    untilCaughtUp: async ({ store }) => {
      const head = await store.wal.headSequence();
      await until(({ state, lastRemoteWal }) => state === 'stream-wals' && lastRemoteWal >= head);
    },
  };
};

const loadAll = async (store: Store, tree: TreeType): Promise<Map<string, string>> => {
  const paths = await store.stored.listPaths(tree, '', Number.MAX_SAFE_INTEGER);
  const copies = await store.stored.read(paths);
  return new Map(copies.map(({ path, stored }) => [path, Buffer.from(stored).toString('hex')]));
};

/**
 * Differences between a secondary and its primary, as paths: stored bytes, records that cannot be
 * read, and Merkle roots.
 */
export const findDeviations = async (
  primary: Pick<TestPrimary, 'store' | 'kind'>,
  secondary: Pick<TestSecondary, 'store'>,
): Promise<readonly string[]> => {
  const deviations: string[] = [];
  const trees: TreeType[] = primary.kind === 'dr' ? ['replicated', 'local'] : ['replicated'];
  const [ours, theirs] = [await primary.store.merkle.roots(), await secondary.store.merkle.roots()];
  for (const tree of trees) {
    const [expected, actual] = [
      await loadAll(primary.store, tree),
      await loadAll(secondary.store, tree),
    ];
    for (const path of new Set([...expected.keys(), ...actual.keys()]))
      if (expected.get(path) !== actual.get(path)) deviations.push(path);
      else if ((await secondary.store.read(path)) === undefined)
        deviations.push(`${path} unreadable`);
    if (ours[tree] !== theirs[tree]) deviations.push(`root of ${tree}`);
  }
  if (primary.kind === 'dr' && ours.composite !== theirs.composite)
    deviations.push('composite root');
  return deviations;
};
