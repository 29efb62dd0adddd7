/** The composition root of sys. */
import { forwardingRoutes } from '@keelson/cluster-member';
import type { Route } from '@keelson/edge';
import { createEdgeService, type EdgeService } from '@keelson/edge';
import type { PeriodicWork } from '@keelson/locks';
import type { AccessDefinition } from '@keelson/proto/sys/v1/access';
import type { RpcService } from '@keelson/rpc';
import { VERSION } from '@keelson/runtime';
import {
  createSecretsErrorRenderer,
  envelopeWarnings,
  secretsComponents,
} from '@keelson/secrets-api';
import { isUnauthenticated } from './access/domain/special-paths.ts';
import { registerBackupMetrics } from './backups/backup-metrics.ts';
import { backupImpairments } from './backups/backup-operations.ts';
import { composeContext, type SysContext } from './compose-context.ts';
import {
  composeCore,
  type OtherServices,
  type SysParts,
  type SysRpc,
  sysAccess,
  sysRpc,
} from './compose-core.ts';
import { identifyingForSecondaries } from './logins/entities-on-primary.ts';
import { registerSysMetrics } from './metrics/sys-metrics.ts';
import { verifyingForSecondaries } from './mfa/passcodes-on-primary.ts';
import { sysPeriodicWork } from './periodic-work.ts';
import {
  type InitializationParts,
  type InitializationRequest,
  type Initialized,
  initializeCluster,
  replaceFirstKeys,
} from './seal/initialization-operations.ts';
import type { SealStatus } from './seal/seal.ts';
import { snapshotRoutes } from './snapshots/snapshot-routes.ts';
import { sysRoutes } from './sys-routes.ts';
import { createSysWorkers, finishRestoration } from './sys-workers.ts';

export type { RunnerStatus } from './nodes/host-document.ts';
export type { RestoredInstallation } from './snapshots/snapshot-operations.ts';

/** The first phase: the other services are composed with its RPC services, and `serve` with the other services. */
export interface ComposedSys extends SysRpc {
  serve(others: OtherServices): SysService;
}

export interface SysService extends SysRpc {
  readonly access: RpcService<typeof AccessDefinition>;
  readonly edge: EdgeService;
  readonly seal: {
    /** @throws KeelsonError `request.invalid` when the cluster is initialized already */
    initialize(request?: Partial<InitializationRequest>): Promise<Initialized>;
    /**
     * For a first start with a static seal when nobody has received the keys yet: initializes the
     * cluster or, if an interrupted start has already done so, creates a new root token and new
     * recovery shares.
     */
    ensureFirstKeys(): Promise<Initialized>;
    /** One key share, hex or base64. */
    unseal(share: string): Promise<SealStatus>;
    status(): Promise<SealStatus>;
  };
  /** By name; run while unsealed, once `start` was called. */
  readonly periodicWork: Readonly<Record<string, PeriodicWork>>;
  /** Finishes a restoration of a snapshot that the end of the process interrupted. */
  finishRestoration(): Promise<void>;
  /** Opens a static seal and runs the periodic work while unsealed. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const DEFAULT_SHARES = { shares: 5, threshold: 3, pgpKeys: [], rootTokenPgpKey: '' };

/** Runs initializations one after another, so that one that loses the claim never closes the barrier of the winner. */
const createInitializer = (context: InitializationParts) => {
  let last: Promise<unknown> = Promise.resolve();
  return (request: InitializationRequest): Promise<Initialized> => {
    const turn = last.then(() => initializeCluster(context, request));
    last = turn.catch(() => undefined);
    return turn;
  };
};

const sysEdge = (context: SysContext, routes: readonly Route[]): EdgeService =>
  createEdgeService({
    service: 'sys',
    version: VERSION,
    pathPrefix: '/v1',
    title: 'Keelson administration',
    text: 'Seal, tokens, policies, namespaces, mounts, leases, audit, wrapping, messages and replication. PUT is the same as POST.',
    components: secretsComponents,
    loadExamples: async () =>
      (await import('./answer-examples.json', { with: { type: 'json' } })).default,
    isPublic: (path) => isUnauthenticated(path.slice(1), context.parts.config),
    check: async () => {
      await context.store.requireUsable();
      const { member, seal, backups } = context;
      return [
        ...(await member.impaired()),
        ...(seal.isSealed ? [] : await backupImpairments(backups)),
      ];
    },
    position: () => context.store.position(),
    routes: [
      ...forwardingRoutes(context.member, envelopeWarnings, routes),
      // Not forwarded: a forwarded body is held in memory, and a snapshot is too large for that.
      ...snapshotRoutes(context.snapshots),
    ],
    renderError: createSecretsErrorRenderer((err, requestId) =>
      context.logger.error({ err, request_id: requestId }, 'request failed'),
    ),
  });

const serveSys = (context: SysContext): Omit<SysService, keyof SysRpc | 'access'> => {
  const { parts, seal, state, replication, member } = context;
  const initialization = {
    seal,
    store: context.store,
    barrier: parts.barrier,
    clock: parts.clock,
    clusterName: parts.config.clusterName,
  };
  const initialize = createInitializer(initialization);
  registerSysMetrics(parts.registry, {
    seal,
    store: context.store,
    transport: context.transport,
    clock: parts.clock,
  });
  registerBackupMetrics(parts.registry, context.backups);
  const edge = identifyingForSecondaries(
    context.logins,
    verifyingForSecondaries(context.logins, sysEdge(context, sysRoutes(context, initialize))),
  );
  member.serve(edge);
  const periodicWork = sysPeriodicWork(context);
  const workers = createSysWorkers(context, periodicWork);
  return {
    edge,
    periodicWork,
    seal: {
      initialize: (request = {}) => initialize({ ...DEFAULT_SHARES, ...request }),
      ensureFirstKeys: async () => {
        if ((await seal.record()) === undefined) return initialize(DEFAULT_SHARES);
        // Writes are allowed only once it is certain that the cluster does not follow another.
        await state.settled();
        return replaceFirstKeys(initialization, DEFAULT_SHARES);
      },
      unseal: async (share) => {
        await seal.giveShare(share);
        return seal.status();
      },
      status: () => seal.status(),
    },
    finishRestoration: () => finishRestoration(context),
    start: () => workers.start(),
    stop: async () => {
      await workers.stop();
      await replication.upkeep.settled();
      await member.stop();
      if (!seal.isSealed) await seal.seal();
      await context.backups.scheduled?.storage.close();
    },
  };
};

export const composeSys = (parts: SysParts): ComposedSys => {
  const core = composeCore(parts);
  const rpc = sysRpc(core);
  return {
    ...rpc,
    serve: (others) => ({
      ...rpc,
      access: sysAccess(core, others),
      ...serveSys(composeContext(core, others)),
    }),
  };
};
