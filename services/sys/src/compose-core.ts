/**
 * The first phase of the composition: what sys knows by itself, and what the other services need to start. The
 * second, in `compose-context.ts`, adds everything that calls those services.
 */
import type { Clock } from '@keelson/clock';
import {
  awaitIndex,
  NO_TRANSPORT,
  ReplicationMember,
  type ReplicationTransport,
  replicationSets,
} from '@keelson/cluster-member';
import type { LeaseStore } from '@keelson/locks';
import type { Logger } from '@keelson/logging';
import type { MetricsRegistry } from '@keelson/metrics';
import type { AuthMethodsDefinition } from '@keelson/proto/auth/v1/methods';
import type { EngineDefinition } from '@keelson/proto/engine/v1/engine';
import type { AccessDefinition } from '@keelson/proto/sys/v1/access';
import type { ClusterDefinition, LeasesDefinition } from '@keelson/proto/sys/v1/cluster';
import type { IdentitiesDefinition } from '@keelson/proto/sys/v1/identities';
import type { LoginsDefinition } from '@keelson/proto/sys/v1/logins';
import type {
  ReplicationMemberDefinition,
  ReplicationSetsDefinition,
} from '@keelson/proto/sys/v1/replication';
import { declaredAreas, guardWrites, recordGroups, WriteGate } from '@keelson/replication';
import type { RpcService } from '@keelson/rpc';
import { VERSION } from '@keelson/runtime';
import type { Barrier, Store } from '@keelson/storage';
import { accessRpc } from './access/access-rpc.ts';
import { followDecisionState } from './access/decision-state.ts';
import { createActivityRecorder } from './activity/activity-recorder.ts';
import { followAuditDevices } from './audit/audit-records.ts';
import { type SysConfig, toSystemTtls } from './config.ts';
import { removeCubbyhole } from './cubbyhole/cubbyhole-records.ts';
import { DamageRegister } from './damage/damage-register.ts';
import { createClusterHistory } from './history/cluster-history.ts';
import { identityRpc } from './identity/identity-rpc.ts';
import { followEntityRights } from './identity/known-rights.ts';
import { endLeasesOfToken } from './leases/lease-records.ts';
import { acquireLeaseRoom, type LeaseRoomContext } from './leases/lease-room.ts';
import { leaseRpc } from './leases/lease-rpc.ts';
import { askingPrimary } from './logins/entities-on-primary.ts';
import type { LoginContext } from './logins/login-operations.ts';
import { loginRpc } from './logins/login-rpc.ts';
import { createFactorCounter } from './mfa/factor-counter.ts';
import { followEnforcements } from './mfa/mfa-records.ts';
import { verifyingAtPrimary } from './mfa/passcodes-on-primary.ts';
import { effectiveLeaseTtls, type LeaseTtls } from './mounts/domain/lease-ttl.ts';
import type { MountIndex } from './mounts/domain/mount-index.ts';
import { findEngineMount } from './mounts/engine-mount.ts';
import { followEngineTypes } from './mounts/engine-type-records.ts';
import { toEdgeMount } from './mounts/mount-document.ts';
import { builtInMountConfig, followMounts } from './mounts/mount-records.ts';
import { followNamespaces } from './namespaces/namespace-records.ts';
import type { RunnerStatus } from './nodes/host-document.ts';
import { policyIndexView } from './policies/policy-index.ts';
import { followLeaseQuotas, followQuotas } from './quotas/quota-records.ts';
import { resumeActivation } from './replication/activation-operations.ts';
import { createCatalog } from './replication/filters/filter-catalog.ts';
import { describeFilter } from './replication/filters/filter-operations.ts';
import { createMemberships } from './replication/memberships.ts';
import { rootKeyUse } from './replication/replication-records.ts';
import { createReplicationState } from './replication/replication-state.ts';
import { createCluster } from './rpc/cluster-rpc.ts';
import type { RotationContext } from './seal/rotation-operations.ts';
import { Seal } from './seal/seal.ts';
import { clusterRecords, rotationRecords } from './seal/seal-records.ts';
import type { RestoredInstallation } from './snapshots/snapshot-operations.ts';
import type { TokenTtls } from './tokens/domain/token-lifetime.ts';
import type { TokenContext, TokenRemovalHook } from './tokens/token-context.ts';
import { refOf } from './tokens/token-records.ts';
import { createTokenUseNotes, forgetUse } from './tokens/token-use-operations.ts';

export interface SysParts {
  readonly config: SysConfig;
  readonly store: Store;
  readonly barrier: Barrier;
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Services whose store may differ from the recorded one: see `requireKnownStore`. */
  readonly newStores?: readonly string[];
  /** Transport between the clusters of a replication set; absent means no replication. */
  readonly transport?: ReplicationTransport | undefined;
  /** Absent if the installation has no files of its own. */
  readonly installation?: RestoredInstallation;
  /** "sqlite" or "postgresql"; shown by `sys/seal-status`. */
  readonly storageType?: string;
  /** Metrics of the process. */
  readonly registry: MetricsRegistry;
  /** The built-in runner, if it is part of this process; shown by `sys/host-info`. */
  readonly runner?: RunnerStatus;
}

/** The other services of this installation, by name. */
export interface OtherServices {
  readonly engines: ReadonlyMap<string, RpcService<typeof EngineDefinition>>;
  /** Absent without auth methods other than tokens. */
  readonly authMethods?: RpcService<typeof AuthMethodsDefinition>;
  /** The services that have stores. */
  readonly replicas: ReadonlyMap<string, RpcService<typeof ReplicationMemberDefinition>>;
}

/** The RPC services of sys for the other services. */
export interface SysRpc {
  readonly cluster: RpcService<typeof ClusterDefinition>;
  readonly ledger: RpcService<typeof LeasesDefinition>;
  readonly logins: RpcService<typeof LoginsDefinition>;
  /** Values of callers for the templates of engines. */
  readonly identities: RpcService<typeof IdentitiesDefinition>;
  /** Membership of the replication sets that this cluster leads. */
  readonly replicationSets: RpcService<typeof ReplicationSetsDefinition>;
}

/**
 * Its store is not guarded by the replication gate: a replica takes its turn only when it is unsealed, and the roles
 * that a restored copy brought are those of another turn.
 */
const createSeal = ({ config, store, barrier, logger }: SysParts): Seal =>
  new Seal({ store, barrier, keyFile: config.unsealKeyFile, logger, rootKeyUse });

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

/** Removes what belongs to a token, in the transaction that removes the token. */
const TOKEN_REMOVAL_HOOKS: readonly TokenRemovalHook[] = [
  (tx, token) => removeCubbyhole(tx, refOf(token)),
  (tx, token) => endLeasesOfToken(tx, refOf(token)),
  forgetUse,
];

/** In-memory views of records, each of which a request may need. */
const followRecords = (store: Store, damage: DamageRegister) => ({
  policies: policyIndexView(store, damage.of('policies')),
  namespaces: followNamespaces(store, damage.of('namespaces')),
  mounts: followMounts(store, damage.of('mounts')),
  engineTypes: followEngineTypes(store, damage.of('engine_types')),
  auditDevices: followAuditDevices(store, damage.of('audit_devices')),
  enforcements: followEnforcements(store, damage.of('login_enforcements')),
  quotas: followQuotas(store, damage.of('quotas')),
  leaseQuotas: followLeaseQuotas(store, damage.of('lease_quotas')),
});

/** Notes of requests, in memory until they are written in portions. */
const createRequestNotes = (store: Store, clock: Clock, mounts: () => Promise<MountIndex>) => ({
  activity: createActivityRecorder({ store, clock, mounts }),
  tokenUses: createTokenUseNotes({ store, clock }),
});

export const composeCore = (parts: SysParts) => {
  const { barrier, clock, leases, transport = NO_TRANSPORT } = parts;
  const logger = parts.logger.child({ service: 'sys' });
  const gate = new WriteGate();
  const store = guardWrites(parts.store, gate);
  const seal = createSeal(parts);
  const damage = new DamageRegister(logger);
  const views = followRecords(store, damage);
  const catalog = createCatalog({ ...views, store: parts.store });
  const memberships = createMemberships({ store: parts.store, seal, catalog });
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
    membershipOf: (kind) => memberships.ofPrimary(kind, 'sys'),
    groups: recordGroups(declaredAreas()),
    describeFilter: (secondaryId) => describeFilter({ memberships, catalog }, secondaryId),
    localClusterId,
  });
  const activation = { store: parts.store, barrier, seal, member, clock, version: VERSION };
  const state = createReplicationState({
    store: parts.store,
    seal,
    member,
    memberships,
    onError: (err) => logger.error({ err }, 'replication'),
    resume: () => resumeActivation(activation),
  });
  member.onSuperseded((kind, promotion) => state.supersede(kind, promotion));
  const systemTtls = toSystemTtls(parts.config);
  const room: LeaseRoomContext = { ...views, store };
  const tokens: TokenContext = {
    store,
    barrier,
    clock,
    ttlsOf: (namespaceId) => tokenTtlsOf(store, namespaceId, systemTtls),
    isMounted: async (uuid) => (await views.mounts()).has(uuid),
    identityOf: followEntityRights(store),
    onRemoved: TOKEN_REMOVAL_HOOKS,
    requireRoom: (tx, { namespace, login, path }) =>
      acquireLeaseRoom(room, tx, {
        namespaceId: namespace.id,
        mountUuid: login?.mountUuid,
        below: '',
        role: login?.role,
        path,
      }),
  };
  const decisionState = followDecisionState(store, seal, {
    ...views,
    isDrSecondary: () => state.isDrSecondary(),
    isSuperseded: () => state.isSuperseded(),
    isSwitching: () => state.isSwitching,
  });
  const findMount: LoginContext['findMount'] = async (uuid) =>
    findEngineMount(await views.mounts(), await views.namespaces(), systemTtls, uuid);
  const writesShared = () => gate.closed === 'none';
  const logins: LoginContext = {
    tokens,
    mounts: views.mounts,
    findMount,
    writesShared,
    askPrimary: askingPrimary(member),
    mfa: {
      store,
      clock,
      namespaces: views.namespaces,
      enforcements: views.enforcements,
      publicUrl: parts.config.publicUrl,
      countsPasscodes: writesShared,
      verifyAtPrimary: verifyingAtPrimary(member),
      clusterId: localClusterId,
      countFactor: createFactorCounter(parts.registry),
    },
  };
  const rotation: RotationContext = {
    store,
    barrier,
    clock,
    requireOwnKeyring: () => gate.requireOpen(rotationRecords.path),
  };
  const notes = createRequestNotes(store, clock, views.mounts);
  const history = createClusterHistory({
    store,
    clock,
    mayWrite: () => !seal.isSealed && gate.closed !== 'all',
  });
  return {
    parts,
    transport,
    logger,
    gate,
    store,
    seal,
    damage,
    views,
    catalog,
    memberships,
    localClusterId,
    member,
    activation,
    state,
    systemTtls,
    tokens,
    logins,
    decisionState,
    rotation,
    findMount,
    ...notes,
    history,
    room,
  };
};

export type SysCore = ReturnType<typeof composeCore>;

/** Decisions about requests, for the gateway. */
export const sysAccess = (
  core: SysCore,
  { authMethods }: OtherServices,
): RpcService<typeof AccessDefinition> => {
  const { parts, store, seal, member, views } = core;
  return accessRpc({
    store,
    seal,
    tokens: core.tokens,
    policies: views.policies,
    decisionState: core.decisionState,
    recordUse: (token) => {
      core.activity.recordUse(token);
      core.tokenUses.note(token);
    },
    addRequests: (counts) => core.history.addRequests(counts),
    awaitIndex: (header) => awaitIndex(member, header),
    auditDevices: views.auditDevices,
    systemTtls: core.systemTtls,
    ceremonies: parts.config,
    toEdgeMount,
    authMethods,
  });
};

export const sysRpc = (core: SysCore): SysRpc => {
  const { parts, store, seal, memberships, gate, systemTtls, state, views } = core;
  return {
    cluster: createCluster({
      ...views,
      store,
      seal,
      rotation: core.rotation,
      systemTtls,
      replicationRoles: (service) => state.rolesFor(service),
      newStores: parts.newStores ?? [],
      writesLocally: () => gate.closed !== 'all',
    }),
    replicationSets: replicationSets(
      (kind, service) => memberships.ofPrimary(kind, service),
      (kind, promotion) => state.supersede(kind, promotion),
    ),
    ledger: leaseRpc({ store, clock: parts.clock, findMount: core.findMount, room: core.room }),
    logins: loginRpc(core.logins),
    identities: identityRpc(core.tokens),
  };
};
