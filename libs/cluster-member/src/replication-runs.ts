/** Background work of a service while it is primary or secondary of one set. */
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
  PublicationFaults,
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
import type { ServeForwarded } from './forwarded-requests.ts';
import { logReachability } from './nats-reachability.ts';

/** How the clusters of a set reach each other. */
export interface ReplicationTransport {
  /** NATS of this cluster; undefined when none is configured, so that it cannot be a primary. */
  readonly bus: Bus | undefined;
  /** Address at which other clusters reach that NATS; "" without one. */
  readonly clusterAddress: string;
  /** Address at which clients reach this cluster; "" when not configured. */
  readonly apiAddress: string;
  /** Connects to the NATS of another cluster. */
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
  /** Maps the records of the service to the groups that a paths filter names. */
  readonly groups: RecordGroups;
  /** The paths filter of a secondary; absent in services that do not know filters. */
  readonly describeFilter?: (secondaryId: string) => Promise<Filter | undefined>;
  /** Finds an object that records of the service refer to; absent in services without object storage. */
  readonly findObject?: (key: string) => Promise<Uint8Array | undefined>;
  /** Id of this cluster; absent in services that do not know it. */
  readonly localClusterId?: () => Promise<string>;
}

export interface PrimaryRun {
  readonly role: 'primary';
  readonly primary: Primary;
  readonly bus: Bus;
  /** Id of the log of this service. A log renewed during the run is reported with the next role. */
  logId(): Promise<string>;
  readonly views: FilterViews;
  readonly filtered: FilteredPublishers;
  readonly faults: Pick<PublicationFaults, 'reasons'>;
  /** Makes the publisher of each secondary reload its filter, whichever replica it runs in. */
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
  readonly serveForwarded: ServeForwarded;
  /** Called when another cluster was promoted to be the primary of the set. */
  readonly onSuperseded: (promotion: number) => Promise<void>;
  /** Current root key of this service's barrier. */
  readonly rootKey: () => Uint8Array;
  readonly clusterAddresses: () => Promise<readonly string[]>;
  /** The store behind the write gate. */
  readonly guarded: Store;
}

export const startPrimaryRun = (
  parts: RunParts,
  kind: ReplicationKind,
  bus: Bus,
  { rootKey, clusterAddresses, guarded, serveForwarded, onSuperseded }: PrimaryOptions,
): PrimaryRun => {
  const { service, store, leases, clock, logger } = parts;
  const membership = parts.membershipOf(kind);
  const views = new FilterViews({ store, membership, kind, groups: parts.groups });
  const faults = new PublicationFaults(clock, ({ stream, reason, isOver }) => {
    if (isOver) logger.info({ kind, stream }, 'the log is published again');
    else
      logger.error({ kind, stream, reason }, 'the log is not published: secondaries fall behind');
  });
  const publishing = {
    store,
    bus,
    leases,
    membership,
    kind,
    service,
    clock,
    faults,
    version: VERSION,
  };
  const filtered = new FilteredPublishers({
    ...publishing,
    views,
    onFailure: (err) => logger.warn({ err, kind }, 'publishing to a filtered secondary failed'),
  });
  const mayReach = async (secondaryId: string, groups: readonly string[]): Promise<boolean> => {
    const filter = await membership.findFilter(secondaryId, groups);
    return filter === undefined || filter.withheldGroups.length === 0;
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
      serveForwarded(request, (groups) => mayReach(secondaryId, groups)),
    onSuperseded: (promotion) => {
      onSuperseded(promotion).catch((err: unknown) =>
        logger.error({ err, kind }, 'this superseded primary could not stop'),
      );
    },
    onFiltered: (secondaryId) => filtered.ensure(secondaryId),
    ...(parts.describeFilter && { describeFilter: parts.describeFilter }),
    ...(parts.findObject && { findObject: parts.findObject }),
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
    faults,
    refreshFilters: async () => {
      await filtered.refresh();
      // An entry that reaches all publishers.
      await writeCanary(guarded, clock.nowMs());
    },
    stop: async () => {
      endLog();
      await Promise.all(workers.map((worker) => worker.stop()));
    },
  };
};

/** The keys and addresses of a link in the form that the library expects. */
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
    onUnreplicated: ({ commits, records, paths, isCut }) =>
      logger.warn(
        { kind, commits, records, paths, is_cut: isCut },
        'writes to this former primary did not reach its successor and are lost (docs/runbooks/failback.md)',
      ),
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
