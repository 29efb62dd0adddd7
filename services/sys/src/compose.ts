/** The composition root of sys. */
import { hostname } from 'node:os';
import type { Clock } from '@keelson/clock';
import {
  awaitIndex,
  forwardingRoutes,
  NO_TRANSPORT,
  ReplicationMember,
  type ReplicationTransport,
  replicationSets,
  serveForwarded,
} from '@keelson/cluster-member';
import { createEdgeService, type EdgeService } from '@keelson/edge';
import { type LeaseStore, type PeriodicWork, runPeriodically } from '@keelson/locks';
import type { Logger } from '@keelson/logging';
import type { EngineDefinition } from '@keelson/proto/engine/v1/engine';
import type { AccessDefinition } from '@keelson/proto/sys/v1/access';
import type { ClusterDefinition, LeasesDefinition } from '@keelson/proto/sys/v1/cluster';
import type {
  ReplicationMemberDefinition,
  ReplicationSetsDefinition,
} from '@keelson/proto/sys/v1/replication';
import { guardWrites, recordGroups, WriteGate } from '@keelson/replication';
import type { RpcService } from '@keelson/rpc';
import { startWorker, VERSION, type Worker } from '@keelson/runtime';
import { createSecretsErrorRenderer } from '@keelson/secrets-api';
import { type Barrier, type Store, takeFence } from '@keelson/storage';
import { createAccess } from './access/access-operations.ts';
import { capabilityRoutes } from './access/capability-routes.ts';
import { type DecisionStates, followDecisionState } from './access/decision-state.ts';
import { followAuditDevices } from './audit/audit-records.ts';
import { composeAdministration, TOKEN_REMOVAL_HOOKS } from './compose-administration.ts';
import type { SysConfig } from './config.ts';
import { metricsRoutes } from './metrics/metrics-routes.ts';
import { toEdgeMount } from './mounts/mount-document.ts';
import { createNodes } from './nodes/node-operations.ts';
import { nodeRoutes } from './nodes/node-routes.ts';
import { policyBookView } from './policies/policy-book.ts';
import { namespacePolicyPrefix } from './policies/policy-records.ts';
import { policyRoutes } from './policies/policy-routes.ts';
import { composeReplication } from './replication/compose-replication.ts';
import { drRoutes } from './replication/dr/dr-routes.ts';
import { createCatalog } from './replication/filters/filter-catalog.ts';
import { SYS_AREAS } from './replication/filters/filtered-areas.ts';
import { followRoles } from './replication/follow-roles.ts';
import { withFormerPaths } from './replication/former-paths.ts';
import { replicationRoutes } from './replication/replication-routes.ts';
import { createCluster } from './rpc/cluster-rpc.ts';
import { generateRootRoutes } from './seal/ceremony-routes.ts';
import { healthRoutes } from './seal/health-routes.ts';
import {
  type InitializationRequest,
  type Initialized,
  initializeCluster,
  replaceFirstKeys,
} from './seal/initialization-operations.ts';
import { createRekeyOperations } from './seal/rekey-operations.ts';
import { rekeyRoutes } from './seal/rekey-routes.ts';
import { createRotationOperations } from './seal/rotation-operations.ts';
import { rotationRoutes } from './seal/rotation-routes.ts';
import { Seal, type SealStatus } from './seal/seal.ts';
import { openStaticSeal } from './seal/seal-opening.ts';
import { CLUSTER_KEY, clusterRecords, rotationRecords } from './seal/seal-records.ts';
import { sealRoutes } from './seal/seal-routes.ts';
import { createTokenCeremonies, rootTokenAttempts } from './seal/token-ceremony-operations.ts';
import { loadUnsealKey } from './seal/unseal-key-file.ts';
import type { TokenContext } from './tokens/token-context.ts';
import { issueServiceToken, rootTokenPlan } from './tokens/token-operations.ts';
import { namespaceTokenPrefixes } from './tokens/token-records.ts';
import { removeExpired } from './tokens/token-revocation-operations.ts';
import { tokenRoleRoutes } from './tokens/token-role-routes.ts';
import { tokenRoutes } from './tokens/token-routes.ts';

export { sysConfigSchema } from './config.ts';

const TOKEN_EXPIRY_EVERY_MS = 1000;
const PRIMARY_SEARCH_EVERY_MS = 5000;
const ROTATION_EVERY_MS = 5 * 60_000;

export interface SysParts {
  readonly config: SysConfig;
  readonly store: Store;
  readonly barrier: Barrier;
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** By service name; filled by the composition root before `start`. */
  readonly engines: ReadonlyMap<string, RpcService<typeof EngineDefinition>>;
  /** How the clusters of a replication set reach each other; absent: no replication. */
  readonly transport?: ReplicationTransport | undefined;
  /** Other services that keep stores, by name, as `engines`. */
  readonly replicas?: ReadonlyMap<string, RpcService<typeof ReplicationMemberDefinition>>;
  /** "sqlite", "postgresql": shown by `sys/seal-status`. */
  readonly storageType?: string;
}

export interface SysService {
  readonly edge: EdgeService;
  readonly access: RpcService<typeof AccessDefinition>;
  /** For a gateway in this process: which decisions still hold (`DecisionState`). */
  readonly decisionState: DecisionStates;
  readonly cluster: RpcService<typeof ClusterDefinition>;
  readonly ledger: RpcService<typeof LeasesDefinition>;
  /** Who belongs to the replication sets this cluster is the primary of. */
  readonly replicationSets: RpcService<typeof ReplicationSetsDefinition>;
  readonly seal: {
    /** @throws KeelsonError `request.invalid` when the cluster is initialized already */
    initialize(request?: Partial<InitializationRequest>): Promise<Initialized>;
    /**
     * For a start whose keys nobody has got yet, with a static seal: initializes the cluster, or, where an
     * interrupted start did, makes a new root token and new recovery shares.
     */
    ensureFirstKeys(): Promise<Initialized>;
    /** One key share, hex or base64. */
    unseal(share: string): Promise<SealStatus>;
    status(): Promise<SealStatus>;
  };
  /** By name. Done while unsealed, from `start` on. */
  readonly periodicWork: Readonly<Record<string, PeriodicWork>>;
  /** Opens a static seal and keeps the periodic work going while unsealed. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Writes nothing but what is local to the cluster. */
const LOCAL_WORK: ReadonlySet<string> = new Set([
  'token-expiry',
  'lease-expiry',
  'departures',
  'primary-search',
  'node-echo',
]);

const DEFAULT_SHARES = { shares: 5, threshold: 3, pgpKeys: [], rootTokenPgpKey: '' };

export const composeSys = (parts: SysParts): SysService => {
  const { config, barrier, leases, clock, engines, transport = NO_TRANSPORT } = parts;
  const logger = parts.logger.child({ service: 'sys' });
  const gate = new WriteGate();
  const store = guardWrites(parts.store, gate);
  const localClusterId = async (): Promise<string> =>
    (await clusterRecords.find(parts.store, CLUSTER_KEY))?.id ?? '';
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
    serveForwarded: serveForwarded(() => edge),
    groups: recordGroups(SYS_AREAS),
    describeFilter: (secondaryId) => replication.filters.describe(secondaryId),
    localClusterId,
  });
  const systemTtls = {
    defaultLeaseTtlSeconds: config.maxTokenTtlSeconds,
    maxLeaseTtlSeconds: config.maxTokenTtlSeconds,
  };
  const keyFile = config.unsealKeyFile;
  const seal = new Seal({
    store,
    barrier,
    loadUnsealKey:
      keyFile === undefined ? undefined : (isInitialized) => loadUnsealKey(keyFile, isInitialized),
  });
  const tokens: TokenContext = {
    store,
    barrier,
    clock,
    systemMaxTtlSeconds: config.maxTokenTtlSeconds,
    onRemoved: TOKEN_REMOVAL_HOOKS,
  };
  const policies = policyBookView(store, (damaged) =>
    logger.error({ policies: damaged }, 'damaged policies: tokens with them may do nothing'),
  );
  const administration = composeAdministration({
    store,
    clock,
    tokens,
    policies,
    engines,
    systemTtls,
    onMountMoved: (tx, before, after) => replication.filters.mountMoved(tx, before, after),
    afterMountMove: () => replication.filters.refresh(),
    keptBackPaths: async () => (await replication.filters.known())?.dynamic_filtered_mounts ?? [],
    namespacePrefixes: (id) => [...namespaceTokenPrefixes(id), namespacePolicyPrefix(id)],
  });
  const { namespaces, mounts, engineTypes, wrapping, audit } = administration;
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
      wrapping,
      catalog: createCatalog({ store: parts.store, mounts, namespaces }),
      localClusterId,
      services: parts.replicas ?? new Map(),
      onError: (err) => logger.error({ err }, 'replication'),
    },
    member,
  );
  const decisionState = followDecisionState(store, seal, {
    isDrSecondary: () => replication.state.isDrSecondary(),
    isSwitching: () => replication.state.isSwitching,
    namespaces,
    mounts,
    engineTypes,
    auditDevices: followAuditDevices(store),
  });
  const rotation = createRotationOperations({
    store,
    barrier,
    clock,
    requireOwnKeyring: () => gate.requireOpen(rotationRecords.prefix),
  });
  const build = {
    versions: { own: VERSION, compatible: config.compatibleVersion },
    storageType: parts.storageType ?? 'sqlite',
  };

  const nodes = createNodes({ store: parts.store, clock, hostname: hostname(), version: VERSION });

  const { clusterName } = config;
  const initialization = { seal, store, barrier, clock, clusterName };
  // One after the other: a start that loses closes the barrier, which must not be the winner's.
  let lastStart: Promise<unknown> = Promise.resolve();
  const initialize = (request: InitializationRequest): Promise<Initialized> => {
    const turn = lastStart.then(() => initializeCluster(initialization, request));
    lastStart = turn.catch(() => undefined);
    return turn;
  };
  const generateRoot = createTokenCeremonies({
    store,
    seal,
    clock,
    attempts: rootTokenAttempts,
    texts: { name: 'root generation', short: 'generation' },
    issue: async (tx) => (await issueServiceToken(tx, rootTokenPlan(clock.nowMs()))).token,
  });

  const followsPrimary = (): boolean => gate.closed !== 'none';

  const edge: EdgeService = createEdgeService({
    service: 'sys',
    version: VERSION,
    pathPrefix: '/v1',
    check: async () => {
      await store.position();
      return member.impaired();
    },
    routes: forwardingRoutes(member, [
      ...sealRoutes({ seal, build, initialize }),
      ...healthRoutes({
        seal,
        build,
        clock,
        replicationModes: () => replication.modes(),
        countDamagedPolicies: async () => (await policies()).damaged.size,
        startedAtMs: clock.nowMs(),
      }),
      ...nodeRoutes(nodes, config.compatibleVersion),
      ...rotationRoutes(rotation),
      ...generateRootRoutes(generateRoot),
      ...rekeyRoutes(
        '/sys/rekey',
        createRekeyOperations({ store, seal, clock, kind: 'barrier', followsPrimary }),
      ),
      ...rekeyRoutes(
        '/sys/rekey-recovery-key',
        createRekeyOperations({ store, seal, clock, kind: 'recovery', followsPrimary }),
      ),
      ...tokenRoutes(tokens, { store }),
      ...tokenRoleRoutes(tokens),
      ...policyRoutes({ store }, policies),
      ...capabilityRoutes(tokens, policies),
      ...administration.routes,
      ...withFormerPaths(replicationRoutes(replication)),
      ...drRoutes(replication),
      ...metricsRoutes({ replicationStatus: replication.status, policies }),
    ]),
    renderError: createSecretsErrorRenderer((err, requestId) =>
      logger.error({ err, request_id: requestId }, 'request failed'),
    ),
  });

  const allWork: SysService['periodicWork'] = {
    ...administration.periodicWork,
    'token-expiry': {
      everyMs: TOKEN_EXPIRY_EVERY_MS,
      round: async (options) => (await removeExpired(tokens, options)) > 0,
    },
    'primary-search': {
      everyMs: PRIMARY_SEARCH_EVERY_MS,
      round: async () => {
        await replication.secondary.searchPrimary();
        await replication.secondary.tellFormerPrimaries();
        await replication.filters.learn().catch(() => undefined);
        return false;
      },
    },
    // An SQLite file has one process.
    ...(build.storageType !== 'sqlite' && { 'node-echo': nodes.echoing }),
    // In every replica: each counts what it encrypts, and all that rotate make the same term.
    'key-rotation': {
      everyMs: ROTATION_EVERY_MS,
      inEveryReplica: true,
      round: async () => {
        await rotation.rotateWhenDue();
        return false;
      },
    },
  };

  const periodicWork: SysService['periodicWork'] = Object.fromEntries(
    Object.entries(allWork).map(([name, work]) => [
      name,
      {
        ...work,
        round: async (options) => {
          await replication.state.settled();
          const isOurs =
            gate.closed === 'none' || (gate.closed === 'shared' && LOCAL_WORK.has(name));
          return isOurs ? work.round(options) : false;
        },
      },
    ]),
  );

  let running: readonly Worker[] = [];
  const stopWorkers = async (): Promise<void> => {
    const stopping = running;
    running = [];
    await Promise.all(stopping.map((worker) => worker.stop()));
  };
  const followSeal = (): void => {
    if (seal.isSealed) {
      stopWorkers().catch((error: unknown) => logger.error({ err: error }, 'worker did not stop'));
    } else if (running.length === 0) {
      running = Object.entries(periodicWork).map(([name, work]) =>
        startWorker(
          name,
          (signal) =>
            runPeriodically(
              {
                name: `sys/${name}`,
                leases,
                clock,
                takeFence: (lease) => takeFence(parts.store, lease),
              },
              work,
              signal,
            ),
          { logger, clock },
        ),
      );
    }
    logger.info({ sealed: seal.isSealed }, 'seal changed');
  };
  let unfollow: (() => void) | undefined;
  let roles: Worker | undefined;
  let opening: Worker | undefined;

  return {
    edge,
    access: createAccess({
      store,
      seal,
      tokens,
      policies,
      decisionState,
      awaitIndex: (header) => awaitIndex(member, header),
      audit,
      wrapping,
      systemTtls,
      toEdgeMount,
    }),
    decisionState,
    cluster: createCluster({
      store,
      seal,
      rotation,
      mounts,
      namespaces,
      systemTtls,
      replicationRoles: (service) => replication.state.rolesFor(service),
      writesLocally: () => gate.closed !== 'all',
    }),
    replicationSets: replicationSets(
      (kind, service) => replication.state.ownMembershipOf(kind, service),
      (kind, promotion) => replication.state.supersede(kind, promotion),
    ),
    ledger: administration.leases,
    periodicWork,
    seal: {
      initialize: (request = {}) => initialize({ ...DEFAULT_SHARES, ...request }),
      ensureFirstKeys: async () => {
        if ((await seal.record()) === undefined) return initialize(DEFAULT_SHARES);
        // Writes are let through once it is known that the cluster follows no other.
        await replication.state.settled();
        return replaceFirstKeys(initialization, DEFAULT_SHARES);
      },
      unseal: async (share) => {
        await seal.giveShare(share);
        return seal.status();
      },
      status: () => seal.status(),
    },
    start: async () => {
      unfollow ??= seal.onChange(followSeal);
      await seal.openWithKeyFile();
      if (!seal.isSealed && running.length === 0) followSeal();
      roles ??= startWorker(
        'roles',
        (signal) => followRoles(parts.store, seal, replication.state, signal),
        { logger, clock },
      );
      if (seal.isSealed && keyFile !== undefined)
        opening ??= startWorker('seal opening', (signal) => openStaticSeal(seal, store, signal), {
          logger,
          clock,
        });
    },
    stop: async () => {
      unfollow?.();
      unfollow = undefined;
      await roles?.stop();
      roles = undefined;
      await opening?.stop();
      opening = undefined;
      await stopWorkers();
      await replication.upkeep.settled();
      await member.stop();
      if (!seal.isSealed) await seal.seal();
    },
  };
};
