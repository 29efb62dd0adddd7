/** The parts of sys and their dependencies, from which `compose.ts` builds the service. */

import { hostname } from 'node:os';
import type { Clock } from '@keelson/clock';
import {
  NO_TRANSPORT,
  ReplicationMember,
  type ReplicationTransport,
  serveForwarded,
} from '@keelson/cluster-member';
import type { EdgeService } from '@keelson/edge';
import type { LeaseStore } from '@keelson/locks';
import type { Logger } from '@keelson/logging';
import type { MetricsRegistry } from '@keelson/metrics';
import type { EngineDefinition } from '@keelson/proto/engine/v1/engine';
import type { ReplicationMemberDefinition } from '@keelson/proto/sys/v1/replication';
import { guardWrites, recordGroups, WriteGate } from '@keelson/replication';
import type { RpcService } from '@keelson/rpc';
import { VERSION } from '@keelson/runtime';
import type { Barrier, Store } from '@keelson/storage';
import { followDecisionState } from './access/decision-state.ts';
import type { BackupContext } from './backups/backup-operations.ts';
import { openScheduledBackups } from './backups/backup-schedule.ts';
import { composeAdministration, TOKEN_REMOVAL_HOOKS } from './compose-administration.ts';
import { type SysConfig, toSystemTtls } from './config.ts';
import { DamageRegister } from './damage/damage-register.ts';
import { effectiveLeaseTtls, type LeaseTtls } from './mounts/domain/lease-ttl.ts';
import { builtInMountConfig } from './mounts/mount-records.ts';
import { createNodes } from './nodes/node-operations.ts';
import { createVersionHistory } from './nodes/version-history.ts';
import { policyBookView } from './policies/policy-book.ts';
import { namespacePolicyPrefix } from './policies/policy-records.ts';
import { composeReplication, type Replication } from './replication/compose-replication.ts';
import { createCatalog } from './replication/filters/filter-catalog.ts';
import {
  describeFilter,
  findReceivedFilter,
  moveInFilters,
  refreshFilters,
} from './replication/filters/filter-operations.ts';
import { SYS_AREAS } from './replication/filters/filtered-areas.ts';
import type { RotationContext } from './seal/rotation-operations.ts';
import { Seal } from './seal/seal.ts';
import { clusterRecords, rotationRecords } from './seal/seal-records.ts';
import { loadUnsealKey } from './seal/unseal-key-file.ts';
import {
  createSnapshots,
  type RestoredInstallation,
  type Snapshots,
} from './snapshots/snapshot-operations.ts';
import type { TokenTtls } from './tokens/domain/token-lifetime.ts';
import type { TokenContext } from './tokens/token-context.ts';
import { namespaceTokenPrefixes } from './tokens/token-records.ts';
export interface SysParts {
  readonly config: SysConfig;
  readonly store: Store;
  readonly barrier: Barrier;
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** By service name; filled by the composition root before `start`. */
  readonly engines: ReadonlyMap<string, RpcService<typeof EngineDefinition>>;
  /** Services whose store may differ from the recorded one: see `requireKnownStore`. */
  readonly newStores?: readonly string[];
  /** Transport between the clusters of a replication set; absent: no replication. */
  readonly transport?: ReplicationTransport | undefined;
  /** The other services that keep stores; keyed and filled like `engines`. */
  readonly replicas?: ReadonlyMap<string, RpcService<typeof ReplicationMemberDefinition>>;
  /** Absent: the installation has no files of its own. */
  readonly installation?: RestoredInstallation;
  /** "sqlite" or "postgresql"; shown by `sys/seal-status`. */
  readonly storageType?: string;
  /** Metrics of the process. */
  readonly registry: MetricsRegistry;
}

const createSeal = ({ config, barrier }: SysParts, store: Store): Seal => {
  const keyFile = config.unsealKeyFile;
  return new Seal({
    store,
    barrier,
    loadUnsealKey:
      keyFile === undefined ? undefined : (isInitialized) => loadUnsealKey(keyFile, isInitialized),
  });
};

/** Lifetimes of tokens as the mount auth/token/ of the namespace is tuned. */
const tokenTtlsOf = async (
  store: Store,
  namespaceId: string,
  systemTtls: LeaseTtls,
): Promise<TokenTtls> => {
  const tuned = await builtInMountConfig(store, namespaceId, 'token');
  const { defaultLeaseTtlSeconds, maxLeaseTtlSeconds } = effectiveLeaseTtls(tuned, systemTtls);
  return { defaultTtlSeconds: defaultLeaseTtlSeconds, maxTtlSeconds: maxLeaseTtlSeconds };
};

const composeSnapshots = (
  { store, barrier, clock, replicas, installation }: SysParts,
  seal: Seal,
  { own, state }: Replication,
): Snapshots =>
  createSnapshots({
    store,
    barrier,
    clock,
    seal,
    version: VERSION,
    own,
    others: () => replicas ?? new Map(),
    secondaryKind: async () => {
      const { performance, dr } = await state.roles();
      if (performance?.role === 'secondary') return 'performance';
      return dr?.role === 'secondary' ? 'dr' : undefined;
    },
    installation,
  });

const composeBackups = (
  { config, clock, registry }: SysParts,
  context: Pick<BackupContext, 'store' | 'logger' | 'snapshots'>,
): BackupContext => ({
  ...context,
  clock,
  scheduled: openScheduledBackups(config, { logger: context.logger, registry }),
});

/** @param edge for requests that another cluster forwards */
export const composeContext = (parts: SysParts, edge: () => EdgeService) => {
  const { config, barrier, leases, clock, engines, transport = NO_TRANSPORT } = parts;
  const logger = parts.logger.child({ service: 'sys' });
  const gate = new WriteGate();
  const store = guardWrites(parts.store, gate);
  const localClusterId = async (): Promise<string> =>
    (await clusterRecords.find(parts.store))?.id ?? '';
  const member = new ReplicationMember({
    service: 'sys',
    store: parts.store,
    barrier,
    leases,
    clock,
    logger,
    transport,
    gate,
    membershipOf: (kind) => replication.state.ownMembershipOf(kind, 'sys'),
    supersede: (kind, promotion) => replication.state.supersede(kind, promotion),
    serveForwarded: serveForwarded(edge),
    groups: recordGroups(SYS_AREAS),
    describeFilter: (secondaryId) => describeFilter(replication.context, secondaryId),
    localClusterId,
  });
  const systemTtls = toSystemTtls(config);
  const seal = createSeal(parts, store);
  const tokens: TokenContext = {
    store,
    barrier,
    clock,
    ttlsOf: (namespaceId) => tokenTtlsOf(store, namespaceId, systemTtls),
    onRemoved: TOKEN_REMOVAL_HOOKS,
  };
  const damage = new DamageRegister(logger);
  const policies = policyBookView(store, damage.of('policies'));
  const administration = composeAdministration({
    config,
    store,
    clock,
    tokens,
    policies,
    engines,
    damage,
    onMountMoved: (tx, before, after) => moveInFilters(replication.context, tx, before, after),
    afterMountMove: () => refreshFilters(replication.context),
    keptBackPaths: async () =>
      (await findReceivedFilter(replication.context))?.dynamic_filtered_mounts ?? [],
    namespacePrefixes: (id) => [...namespaceTokenPrefixes(id), namespacePolicyPrefix(id)],
  });
  const { namespaces, mounts, engineTypes, auditDevices } = administration;
  const replication = composeReplication(
    {
      store: parts.store,
      barrier,
      seal,
      member,
      clock,
      version: VERSION,
      transport,
      tokens,
      policies,
      catalog: createCatalog({ store: parts.store, mounts, namespaces }),
      localClusterId,
      services: parts.replicas ?? new Map(),
      logger,
    },
    member,
  );
  const decisionState = followDecisionState(store, seal, {
    isDrSecondary: () => replication.state.isDrSecondary(),
    isSuperseded: () => replication.state.isSuperseded(),
    isSwitching: () => replication.state.isSwitching,
    namespaces,
    mounts,
    engineTypes,
    auditDevices,
  });
  /** Reads each kind of record first, so that the counts are current. */
  const countDamage = async () => {
    await Promise.all([policies(), namespaces(), mounts(), engineTypes(), auditDevices()]);
    return damage.counts();
  };
  const rotation: RotationContext = {
    store,
    barrier,
    clock,
    requireOwnKeyring: () => gate.requireOpen(rotationRecords.path),
  };
  const build = {
    versions: { own: VERSION, compatible: config.compatibleVersion },
    storageType: parts.storageType ?? 'sqlite',
  };

  const nodes = createNodes({ store: parts.store, clock, hostname: hostname(), version: VERSION });
  const versions = createVersionHistory({ store: parts.store, clock, version: VERSION });

  const snapshots = composeSnapshots(parts, seal, replication);
  const backups = composeBackups(parts, { store, logger, snapshots });

  return {
    parts,
    snapshots,
    backups,
    logger,
    gate,
    store,
    member,
    systemTtls,
    seal,
    tokens,
    policies,
    administration,
    replication,
    decisionState,
    countDamage,
    rotation,
    build,
    nodes,
    versions,
  };
};

export type SysContext = ReturnType<typeof composeContext>;
