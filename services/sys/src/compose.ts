/** The composition root of sys. */
import { hostname } from 'node:os';
import type { Clock } from '@keelson/clock';
import { createEdgeService, type EdgeService } from '@keelson/edge';
import { type LeaseStore, type PeriodicWork, runPeriodically } from '@keelson/locks';
import type { Logger } from '@keelson/logging';
import type { EngineDefinition } from '@keelson/proto/engine/v1/engine';
import type { AccessDefinition } from '@keelson/proto/sys/v1/access';
import type { ClusterDefinition, LeasesDefinition } from '@keelson/proto/sys/v1/cluster';
import type { RpcService } from '@keelson/rpc';
import { startWorker, type Worker } from '@keelson/runtime';
import { createSecretsErrorRenderer } from '@keelson/secrets-api';
import type { Barrier, Store } from '@keelson/storage';
import { createAccess } from './access/access-operations.ts';
import { capabilityRoutes } from './access/capability-routes.ts';
import { type DecisionStates, followDecisionState } from './access/decision-state.ts';
import { followAuditDevices } from './audit/audit-records.ts';
import { composeAdministration, TOKEN_REMOVAL_HOOKS } from './compose-administration.ts';
import type { SysConfig } from './config.ts';
import { toEdgeMount } from './mounts/mount-document.ts';
import { policyBookView } from './policies/policy-book.ts';
import { namespacePolicyPrefix } from './policies/policy-records.ts';
import { policyRoutes } from './policies/policy-routes.ts';
import { createCluster } from './rpc/cluster-rpc.ts';
import { generateRootRoutes } from './seal/ceremony-routes.ts';
import { healthRoutes } from './seal/health-routes.ts';
import {
  type InitializationRequest,
  type Initialized,
  initializeCluster,
} from './seal/initialization-operations.ts';
import { createRekeyOperations } from './seal/rekey-operations.ts';
import { rekeyRoutes } from './seal/rekey-routes.ts';
import { createRotationOperations } from './seal/rotation-operations.ts';
import { rotationRoutes } from './seal/rotation-routes.ts';
import { Seal, type SealStatus } from './seal/seal.ts';
import { openStaticSeal } from './seal/seal-opening.ts';
import { sealRoutes } from './seal/seal-routes.ts';
import { createTokenCeremonies } from './seal/token-ceremony-operations.ts';
import { loadUnsealKey } from './seal/unseal-key-file.ts';
import type { TokenContext } from './tokens/token-context.ts';
import { issueServiceToken, rootTokenPlan } from './tokens/token-operations.ts';
import { namespaceTokenPrefixes } from './tokens/token-records.ts';
import { removeExpired } from './tokens/token-revocation-operations.ts';
import { tokenRoleRoutes } from './tokens/token-role-routes.ts';
import { tokenRoutes } from './tokens/token-routes.ts';

export { sysConfigSchema } from './config.ts';

const VERSION = '0.1.0';
const TOKEN_EXPIRY_EVERY_MS = 1000;
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
  readonly seal: {
    /** @throws KeelsonError `request.invalid` when the cluster is initialized already */
    initialize(request?: Partial<InitializationRequest>): Promise<Initialized>;
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

const DEFAULT_SHARES = { shares: 5, threshold: 3, pgpKeys: [], rootTokenPgpKey: '' };

export const composeSys = (parts: SysParts): SysService => {
  const { config, store, barrier, leases, clock, engines } = parts;
  const logger = parts.logger.child({ service: 'sys' });
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
  const policies = policyBookView(store);
  const administration = composeAdministration({
    store,
    clock,
    tokens,
    policies,
    engines,
    systemTtls,
    auditDirectories: config.auditDirectories,
    namespacePrefixes: (id) => [...namespaceTokenPrefixes(id), namespacePolicyPrefix(id)],
  });
  const { namespaces, mounts, engineTypes, wrapping, audit } = administration;
  const decisionState = followDecisionState(store, seal, {
    namespaces,
    mounts,
    engineTypes,
    auditDevices: followAuditDevices(store),
  });
  const rotation = createRotationOperations({ store, barrier, clock });
  const build = { version: VERSION, storageType: parts.storageType ?? 'sqlite' };

  // One after the other: a start that loses closes the barrier, which must not be the winner's.
  let lastStart: Promise<unknown> = Promise.resolve();
  const initialize = (request: InitializationRequest): Promise<Initialized> => {
    const { clusterName } = config;
    const turn = lastStart.then(() =>
      initializeCluster({ seal, store, barrier, clock, clusterName }, request),
    );
    lastStart = turn.catch(() => undefined);
    return turn;
  };
  const generateRoot = createTokenCeremonies({
    store,
    seal,
    clock,
    kind: 'generate-root',
    texts: { name: 'root generation', short: 'generation' },
    issue: async (tx) => (await issueServiceToken(tx, rootTokenPlan(clock.nowMs()))).token,
  });

  const edge = createEdgeService({
    service: 'sys',
    version: VERSION,
    pathPrefix: '/v1',
    routes: [
      ...sealRoutes({ seal, build, initialize }),
      ...healthRoutes({
        seal,
        build,
        clock,
        instance: { hostname: hostname(), startedAtMs: clock.nowMs() },
      }),
      ...rotationRoutes(rotation),
      ...generateRootRoutes(generateRoot),
      ...rekeyRoutes('/sys/rekey', createRekeyOperations({ store, seal, clock, kind: 'barrier' })),
      ...rekeyRoutes(
        '/sys/rekey-recovery-key',
        createRekeyOperations({ store, seal, clock, kind: 'recovery' }),
      ),
      ...tokenRoutes(tokens, { store }),
      ...tokenRoleRoutes(tokens),
      ...policyRoutes({ store }),
      ...capabilityRoutes(tokens, policies),
      ...administration.routes,
    ],
    renderError: createSecretsErrorRenderer((err, requestId) =>
      logger.error({ err, request_id: requestId }, 'request failed'),
    ),
  });

  const periodicWork: SysService['periodicWork'] = {
    ...administration.periodicWork,
    'token-expiry': {
      everyMs: TOKEN_EXPIRY_EVERY_MS,
      round: async (options) => (await removeExpired(tokens, options)) > 0,
    },
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
          (signal) => runPeriodically({ name: `sys/${name}`, leases, clock }, work, signal),
          { logger, clock },
        ),
      );
    }
    logger.info({ sealed: seal.isSealed }, 'seal changed');
  };
  let unfollow: (() => void) | undefined;
  let opening: Worker | undefined;

  return {
    edge,
    access: createAccess({
      store,
      seal,
      tokens,
      policies,
      decisionState,
      audit,
      wrapping,
      systemTtls,
      toEdgeMount,
    }),
    decisionState,
    cluster: createCluster({ store, seal, rotation, mounts, namespaces, systemTtls }),
    ledger: administration.leases,
    periodicWork,
    seal: {
      initialize: (request = {}) => initialize({ ...DEFAULT_SHARES, ...request }),
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
      if (seal.isSealed && keyFile !== undefined)
        opening ??= startWorker('seal opening', (signal) => openStaticSeal(seal, store, signal), {
          logger,
          clock,
        });
    },
    stop: async () => {
      unfollow?.();
      unfollow = undefined;
      await opening?.stop();
      opening = undefined;
      await stopWorkers();
      if (!seal.isSealed) await seal.seal();
    },
  };
};
