/** What runs while a service is primary or secondary of one set. */
import type { Bus } from '@keelson/bus';
import type { Clock } from '@keelson/clock';
import type { LeaseStore } from '@keelson/locks';
import type { Logger } from '@keelson/logging';
import type { Filter } from '@keelson/proto/replication/v1/replication';
import type { ReplicationLink, ReplicationRole } from '@keelson/proto/sys/v1/replication';
import {
  FilteredPublishers,
  FilterViews,
  type Membership,
  Primary,
  type RecordGroups,
  type ReplicationKind,
  runCanary,
  Secondary,
  type SecondaryIdentity,
  WalPublisher,
  writeCanary,
} from '@keelson/replication';
import { startWorker, VERSION } from '@keelson/runtime';
import { type Barrier, loadWrappedKeyring, type Store } from '@keelson/storage';
import { logReachability } from './nats-reachability.ts';

/** How the clusters of a set reach each other. */
export interface ReplicationTransport {
  /** NATS of this cluster; undefined: none is configured, and the cluster can be no primary. */
  readonly bus: Bus | undefined;
  /** Where other clusters reach that NATS; "" without one. */
  readonly clusterAddress: string;
  /** Where clients reach this cluster; "" when it is not configured. */
  readonly apiAddress: string;
  /** The NATS of another cluster. */
  connect(addresses: readonly string[], trustedRoots?: readonly string[]): Promise<Bus>;
}

export interface RunParts {
  readonly service: string;
  readonly store: Store;
  readonly barrier: Barrier;
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly transport: ReplicationTransport;
  readonly membershipOf: (kind: ReplicationKind) => Membership;
  /** Another cluster was promoted to be the primary of the set. */
  readonly supersede: (kind: ReplicationKind, promotion: number) => Promise<void>;
  readonly serveForwarded: (request: Uint8Array, mayReach: MayReach) => Promise<Uint8Array>;
  /** Which records of the service belong to what a paths filter names. */
  readonly groups: RecordGroups;
  /** Of the service that knows the filters. */
  readonly describeFilter?: (secondaryId: string) => Promise<Filter | undefined>;
  /** Id of this cluster itself, of the service that knows it. */
  readonly localClusterId?: () => Promise<string>;
}

/** Whether what belongs to these groups crosses to the secondary that forwards a request. */
export type MayReach = (groups: readonly string[]) => Promise<boolean>;

export interface PrimaryRun {
  readonly role: 'primary';
  readonly primary: Primary;
  readonly bus: Bus;
  /** Of the log of this service. One that is renewed meanwhile is told with the next role. */
  logId(): Promise<string>;
  readonly views: FilterViews;
  readonly filtered: FilteredPublishers;
  /** Filters changed: the publisher of each secondary looks at its filter again, in whichever replica. */
  refreshFilters(): Promise<void>;
  stop(): Promise<void>;
}

export interface SecondaryRun {
  readonly role: 'secondary';
  readonly secondary: Secondary;
  /** Connection to the bus of the primary. */
  readonly bus: Bus;
  stop(): Promise<void>;
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });

interface PrimaryOptions {
  /** Of this service's barrier as of now. */
  readonly rootKey: () => Uint8Array;
  readonly clusterAddresses: () => Promise<readonly string[]>;
  /** The store as it may be written now. */
  readonly guarded: Store;
}

export const startPrimaryRun = (
  parts: RunParts,
  kind: ReplicationKind,
  bus: Bus,
  { rootKey, clusterAddresses, guarded }: PrimaryOptions,
): PrimaryRun => {
  const { service, store, leases, clock, logger } = parts;
  const membership = parts.membershipOf(kind);
  const views = new FilterViews({ store, membership, kind, groups: parts.groups });
  const publishing = { store, bus, leases, membership, kind, service, version: VERSION, clock };
  const filtered = new FilteredPublishers({
    ...publishing,
    views,
    onFailure: (err) => logger.warn({ err, kind }, 'publishing to a filtered secondary failed'),
  });
  const mayReach = async (secondaryId: string, groups: readonly string[]): Promise<boolean> => {
    const filter = await membership.findFilter(secondaryId, groups);
    return filter === undefined || filter.leftOut.length === 0;
  };
  const primary = new Primary({
    store,
    bus,
    membership,
    views,
    kind,
    service,
    version: VERSION,
    clock,
    handover: async () => ({
      rootKey: rootKey(),
      wrappedKeyring: await loadWrappedKeyring(store),
    }),
    clusterAddresses,
    apiAddress: parts.transport.apiAddress,
    serveForwarded: (request, secondaryId) =>
      parts.serveForwarded(request, (groups) => mayReach(secondaryId, groups)),
    onSuperseded: (promotion) => {
      parts
        .supersede(kind, promotion)
        .catch((err: unknown) => logger.error({ err, kind }, 'superseded, and did not stop'));
    },
    onFiltered: (secondaryId) => filtered.ensure(secondaryId),
    ...(parts.describeFilter && { describeFilter: parts.describeFilter }),
  });
  const publisher = new WalPublisher(publishing);
  const start = (name: string, run: (signal: AbortSignal) => Promise<void>) =>
    startWorker(`${kind} ${name}`, run, { logger, clock, maxDelayMs: 2000 });
  const workers = [
    start('answers', async (signal) => {
      await primary.serve(signal);
      await untilAborted(signal);
    }),
    start('publisher', (signal) => publisher.run(signal)),
    ...(kind === 'performance' ? [start('filters', (signal) => filtered.run(signal))] : []),
    start('canary', (signal) => runCanary(guarded, signal, { clock })),
  ];
  const endLog = logReachability(bus, parts, { kind, role: 'primary' });
  let logId: Promise<string> | undefined;
  return {
    role: 'primary',
    primary,
    bus,
    logId: () => {
      logId ??= membership.identity().then((identity) => identity.logId);
      logId.catch(() => {
        logId = undefined;
      });
      return logId;
    },
    views,
    filtered,
    refreshFilters: async () => {
      await filtered.refresh();
      // An entry that all publishers see.
      await writeCanary(guarded, clock.nowMs());
    },
    stop: async () => {
      endLog();
      await Promise.all(workers.map((worker) => worker.stop()));
    },
  };
};

/** The keys and addresses of a link as the library takes them. */
export const toIdentity = ({ clusterId, link }: ReplicationRole): SecondaryIdentity | undefined =>
  link && {
    clusterId,
    secondaryId: link.secondaryId,
    keys: { publicKey: link.publicKey, privateKey: link.privateKey },
    primaryPublicKey: link.primaryPublicKey,
  };

export const startSecondaryRun = async (
  parts: RunParts,
  kind: ReplicationKind,
  identity: SecondaryIdentity,
  link: Pick<ReplicationLink, 'addresses' | 'trustedRoots'> | undefined,
): Promise<SecondaryRun> => {
  const { service, store, barrier, leases, clock, logger, transport } = parts;
  const bus = await transport.connect(link?.addresses ?? [], link?.trustedRoots);
  const secondary = new Secondary({
    store,
    barrier,
    bus,
    leases,
    kind,
    service,
    version: VERSION,
    identity,
    apiAddress: transport.apiAddress,
    clusterAddress: transport.clusterAddress,
    groups: parts.groups,
    ...(parts.localClusterId && { localClusterId: parts.localClusterId }),
    clock,
    onFailure: (err) => logger.warn({ err, kind }, 'replication failed'),
  });
  const endLog = logReachability(bus, parts, { kind, role: 'secondary' });
  const worker = startWorker(`${kind} secondary`, (signal) => secondary.run(signal), {
    logger,
    clock,
    maxDelayMs: 2000,
  });
  return {
    role: 'secondary',
    secondary,
    bus,
    stop: async () => {
      endLog();
      await worker.stop();
      await bus.close();
    },
  };
};
