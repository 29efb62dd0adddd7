/** The composition root of the workspace service. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import {
  composeServiceReplication,
  forwardingRoutes,
  type ReplicationParts,
  WORKSPACE_GROUP,
} from '@keelson/cluster-member';
import {
  type CachingService,
  cacheResponses,
  createEdgeService,
  type EdgeService,
  type Route,
} from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import {
  createErrorRenderer,
  jsonApiComponents,
  metaWarnings,
  type ResourceSchema,
} from '@keelson/jsonapi';
import { type LeaseStore, type PeriodicWork, runPeriodically } from '@keelson/locks';
import type { Logger } from '@keelson/logging';
import type { MetricsRegistry } from '@keelson/metrics';
import { createOutbound } from '@keelson/outbound';
import { toOutboundPolicy } from '@keelson/outbound/settings';
import type { ClusterDefinition } from '@keelson/proto/sys/v1/cluster';
import type { ReplicationMemberDefinition } from '@keelson/proto/sys/v1/replication';
import type { IdentityDefinition } from '@keelson/proto/workspace/v1/identity';
import type { WorkloadIdentityDefinition } from '@keelson/proto/workspace/v1/workload_identity';
import type { RpcService } from '@keelson/rpc';
import { startWorker, VERSION, type Worker } from '@keelson/runtime';
import { type Barrier, type Projection, type Store, takeFence } from '@keelson/storage';

import {
  AUDIT_TRAIL_RESOURCES,
  auditEventRoutes,
  auditTrailOrganizationSteps,
  auditTrailUpkeep,
  createAuditTrail,
} from './audit-trail/audit-trail-module.ts';
import { apiDescriptionRoutes } from './base/api-description/api-description-routes.ts';
import { createFineOrder } from './base/creation-order.ts';
import { createMailer } from './base/mail/mailer.ts';
import { notFound } from './base/not-found.ts';
import { followCluster } from './cluster-state.ts';
import { composeContents, openContentStorage } from './compose-contents.ts';
import { toMailerOptions, type WorkspaceConfig } from './config.ts';
import {
  IDENTITY_RESOURCES,
  identityOpenRoutes,
  identityRoutes,
} from './identity/identity-module.ts';
import { identityUpkeep } from './identity/identity-upkeep.ts';
import { adoptBootstrapToken, ensureAdminToken } from './identity/tokens/first-token-operations.ts';
import { createIdentity } from './identity/tokens/identity-rpc.ts';
import { withRunner } from './identity/tokens/runner-identity.ts';
import { IDENTITY_TOKEN_OWNERS } from './identity/tokens/token-owners.ts';
import { WORKSPACE_LIMITS, type WorkspaceLimits } from './limits.ts';
import { isRunWaiting } from './runs/agent-runs/agent-run-operations.ts';
import { RUN_TOKEN_OWNER } from './runs/lifecycle/run-token-owner.ts';
import { STATE_RUN_CONTRIBUTION } from './runs/lifecycle/state-run-contribution.ts';
import {
  agentAndSignedRoutes,
  RUNS_PROJECTIONS,
  RUNS_RESOURCES,
  RUNS_WORKSPACE_CONTRIBUTIONS,
  runsRoutes,
} from './runs/runs-module.ts';
import { RUNS_WORKSPACE_STEPS, runsStateSteps } from './runs/runs-steps.ts';
import { runsUpkeep } from './runs/runs-upkeep.ts';
import { createWorkloadIdentity } from './runs/workload-identity/workload-identity-rpc.ts';
import type { ContentPlaces } from './state/contents/content-bodies.ts';
import {
  STATE_PROJECTIONS,
  STATE_RESOURCES,
  STATE_WORKSPACE_CONTRIBUTIONS,
  stateRoutes,
  stateSignedRoutes,
} from './state/state-module.ts';
import { STATE_WORKSPACE_STEPS } from './state/state-steps.ts';
import { stateUpkeep } from './state/state-upkeep.ts';
import type { VcsContext } from './vcs/seams/vcs-context.ts';
import {
  VCS_RESOURCES,
  vcsAgentRoutes,
  vcsRoutes,
  vcsSignedRoutes,
  vcsUpkeep,
} from './vcs/vcs-module.ts';
import { vcsWorkspaceSteps } from './vcs/vcs-steps.ts';
import { createWorkerCounters, registerWorkspaceMetrics } from './workspace-metrics.ts';
import { AGENT_POOL_TOKEN_OWNER } from './workspaces/agent-pools/agent-pool-token-owner.ts';
import { createWorkspaceListing } from './workspaces/listing/projected-workspace-listing.ts';
import { LISTING_PROJECTIONS } from './workspaces/listing/workspace-projections.ts';
import { sortReleases } from './workspaces/model/domain/runtime-version.ts';
import { VARIABLE_SET_STEPS } from './workspaces/variable-sets/variable-set-steps.ts';
import {
  WORKSPACES_CONTRIBUTIONS,
  workspacesResources,
  workspacesRoutes,
} from './workspaces/workspaces-module.ts';
import {
  workspacesOrganizationContribution,
  workspacesOrganizationSteps,
} from './workspaces/workspaces-organization-steps.ts';
import { workspacesUpkeep } from './workspaces/workspaces-upkeep.ts';

/** Projections with which the service's store is opened. */
export const WORKSPACE_PROJECTIONS: readonly Projection[] = [
  ...LISTING_PROJECTIONS,
  ...STATE_PROJECTIONS,
  ...RUNS_PROJECTIONS,
];

export interface WorkspaceParts {
  readonly config: WorkspaceConfig;
  readonly store: Store;
  readonly barrier: Barrier;
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly cluster: RpcService<typeof ClusterDefinition>;
  readonly replication?: ReplicationParts | undefined;
  /** Instead of those of `WORKSPACE_LIMITS`. */
  readonly limits?: Partial<WorkspaceLimits> | undefined;
  /** Metrics of the process. */
  readonly registry: MetricsRegistry;
  /** A fault of the built-in runner, if it is part of this process, in a sentence. */
  readonly runnerFault?: string | undefined;
}

export interface WorkspaceService {
  readonly edge: EdgeService;
  readonly identity: RpcService<typeof IdentityDefinition>;
  /** The tokens with which runs sign in. */
  readonly workloadIdentity: RpcService<typeof WorkloadIdentityDefinition>;
  /** The replication area of this service, for sys. */
  readonly replica: RpcService<typeof ReplicationMemberDefinition>;
  /** Running background work, by name. */
  readonly periodicWork: Readonly<Record<string, PeriodicWork>>;
  /** Whether a run waits that the built-in runner might take; false while sealed and on a secondary. */
  isRunWaiting(): Promise<boolean>;
  /** Waits until the cluster is unsealed; see `first-token-operations.ts`. */
  ensureAdminToken(): Promise<{ token: string }>;
  /** Resolves once the service has followed the cluster's state for the first time, or has failed to. */
  readonly joined: Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Time limit of each step of a request to a destination that users choose. */
const OUTBOUND_TIMEOUT_MS = 10_000;

/** People wait for a sign-in. */
const SIGN_IN_TIMEOUT_MS = 5000;

const STATES = '/state-versions/:state_version_id';

/** Additional routes for the token of a run: the states that other workspaces share with it. */
const FOR_RUNS: ReadonlySet<string> = new Set([
  'GET /organizations/:organization_name',
  'GET /organizations/:organization_name/entitlement-set',
  'GET /organizations/:organization_name/workspaces/:workspace_name',
  'GET /workspaces/:workspace_id',
  'GET /workspaces/:workspace_id/current-state-version',
  'GET /workspaces/:workspace_id/current-state-version-outputs',
  'POST /workspaces/:workspace_id/state-versions',
  `GET ${STATES}`,
  `GET ${STATES}/outputs`,
  'GET /state-version-outputs/:output_id',
]);

/** The only routes for the codes of one-time links, and for the token that reads an audit trail. */
const ONLY_ROUTES: Readonly<Record<string, ReadonlySet<string>>> = {
  invitation: new Set([
    'GET /invitation',
    'POST /invitation/actions/accept',
    'POST /invitation/actions/set-password',
    'POST /invitation/actions/begin-passkey',
    'POST /invitation/actions/add-passkey',
  ]),
  'email-confirmation': new Set([
    'GET /email-confirmation',
    'POST /email-confirmation/actions/confirm',
  ]),
  'password-reset': new Set(['GET /password-reset', 'POST /password-reset/actions/set-password']),
  'audit-trail': new Set(['GET /organization/audit-trail']),
};

/**
 * Agents and the built-in runner claim runs and report on them; runs read and write states; a one-time link
 * accepts an invitation, confirms an address or sets a password; the token for an audit trail reads it. They may call
 * nothing else of the API.
 */
const forPeople = (route: Route): Route => ({
  ...route,
  handle: async (exchange) => {
    const kind = exchange.head.principal?.kind ?? '';
    const isRefused =
      kind === 'agent' ||
      kind === 'runner' ||
      ONLY_ROUTES[kind]?.has(`${route.method} ${route.path}`) === false ||
      (kind === 'run' && !FOR_RUNS.has(`${route.method} ${route.path}`));
    if (isRefused) throw notFound('resource');
    return route.handle(exchange);
  },
});

/**
 * Every route of the API.
 * @param watch records the changes of a route: those of agents and of signed addresses are part of a run or of an upload
 * that was recorded before, and nobody's own
 */
const workspaceServiceRoutes = (
  context: VcsContext,
  watch: (route: Route) => Route,
): readonly Route[] => [
  ...[
    ...identityRoutes(context),
    ...workspacesRoutes(context),
    ...stateRoutes(context),
    ...runsRoutes(context),
    ...vcsRoutes(context),
    ...auditEventRoutes(context),
  ].map((route) => watch(forPeople(route))),
  ...identityOpenRoutes(context),
  ...stateSignedRoutes(context),
  ...agentAndSignedRoutes(context),
  ...vcsAgentRoutes(context),
  ...vcsSignedRoutes(context),
];

/** Every resource that the routes answer with. */
const workspaceServiceResources = (context: VcsContext): readonly ResourceSchema[] => [
  ...IDENTITY_RESOURCES,
  ...workspacesResources(context),
  ...STATE_RESOURCES,
  ...RUNS_RESOURCES,
  ...VCS_RESOURCES,
  ...AUDIT_TRAIL_RESOURCES,
];

/** The context of all operations, with the seams between the modules (README, The seams). */
const createContext = (
  store: Store,
  clock: Clock,
  config: WorkspaceConfig,
  logger: Logger,
  contentPlaces: ContentPlaces,
  limits: WorkspaceLimits,
  registry: MetricsRegistry,
): VcsContext => {
  const mail = toMailerOptions(config);
  const hasRunner = config.runnerToken !== undefined;
  const nextRunOrder = createFineOrder(clock);
  const { publicUrl } = config;
  const workspaceSteps = [
    VARIABLE_SET_STEPS,
    STATE_WORKSPACE_STEPS,
    RUNS_WORKSPACE_STEPS,
    vcsWorkspaceSteps({ clock, publicUrl }),
  ];
  return {
    store,
    clock,
    contentPlaces,
    listing: createWorkspaceListing(store),
    hasRunner,
    runtimeVersions: sortReleases(config.workspaceRuntimeVersions),
    nextRunOrder,
    globalRemoteState: config.workspaceGlobalRemoteState,
    variableSetsLimit: limits.variableSets,
    invitationsLimit: limits.invitations,
    notificationsLimit: limits.notifications,
    mailer: mail && createMailer({ ...mail, timeoutMs: OUTBOUND_TIMEOUT_MS }),
    openOutbound: (ca) =>
      createOutbound({
        policy: toOutboundPolicy(config),
        timeoutMs: SIGN_IN_TIMEOUT_MS,
        ...(ca !== '' && { ca }),
      }),
    outbound: createOutbound({
      policy: toOutboundPolicy(config),
      timeoutMs: OUTBOUND_TIMEOUT_MS,
    }),
    assessmentIntervalMs: config.workspaceAssessmentIntervalSeconds * 1000,
    tokenOwners: {
      ...IDENTITY_TOKEN_OWNERS,
      'agent-pool': AGENT_POOL_TOKEN_OWNER,
      run: RUN_TOKEN_OWNER,
    },
    organizationSteps: [
      workspacesOrganizationSteps({ store, clock, workspaceSteps }),
      auditTrailOrganizationSteps(store),
    ],
    organizationContributions: [workspacesOrganizationContribution({ hasRunner })],
    workspaceSteps,
    workspaceContributions: [
      ...WORKSPACES_CONTRIBUTIONS,
      ...STATE_WORKSPACE_CONTRIBUTIONS,
      ...RUNS_WORKSPACE_CONTRIBUTIONS,
    ],
    stateSteps: [runsStateSteps({ clock, nextRunOrder, hasRunner })],
    stateContributions: [STATE_RUN_CONTRIBUTION],
    fetchLimits: {
      timeLimitMs: config.workspaceFetchTimeLimitSeconds * 1000,
      limitBytes: config.workspaceFetchLimitBytes,
    },
    publicUrl,
    repositoryWorkLimit: limits.repositoryWork,
    workerCounters: createWorkerCounters(registry),
    logger,
  };
};

export const composeWorkspace = (parts: WorkspaceParts): WorkspaceService => {
  const { config, barrier, leases, clock, cluster } = parts;
  const logger = parts.logger.child({ service: 'workspace' });
  const storage = openContentStorage(config, { logger, registry: parts.registry, clock });
  const {
    store,
    member,
    rpc: replica,
  } = composeServiceReplication(parts, {
    service: 'workspace',
    logger,
    wholeGroup: WORKSPACE_GROUP,
    findObject: storage && ((key) => storage.get(key)),
  });
  const contents = composeContents({ ...parts, store, storage, logger, member });
  const limits = { ...WORKSPACE_LIMITS, ...parts.limits };
  const { registry } = parts;
  const trail = createAuditTrail(store, clock);
  const context = createContext(
    trail.store,
    clock,
    config,
    logger,
    contents.places,
    limits,
    registry,
  );
  registerWorkspaceMetrics(parts.registry, { store, clock });
  const edge: CachingService = cacheResponses(
    createEdgeService({
      service: 'workspace',
      version: VERSION,
      pathPrefix: '/api/v2',
      title: 'Keelson workspaces',
      text: 'Organizations, projects, teams, workspaces, variables, states, runs and agents, as JSON:API documents.',
      components: jsonApiComponents(workspaceServiceResources(context)),
      loadExamples: async () =>
        (await import('./answer-examples.json', { with: { type: 'json' } })).default,
      check: async () => {
        if (barrier.isSealed) throw new KeelsonError('sys.sealed');
        await store.requireUsable();
        return [
          ...(await member.impaired()),
          ...(storage?.impaired() ?? []),
          ...(parts.runnerFault === undefined ? [] : [parts.runnerFault]),
        ];
      },
      position: () => store.position(),
      routes: forwardingRoutes(member, metaWarnings, workspaceServiceRoutes(context, trail.watch)),
      describingRoutes: (describe) =>
        forwardingRoutes(member, metaWarnings, apiDescriptionRoutes(describe, clock.nowMs())),
      renderError: createErrorRenderer((error, requestId) =>
        logger.error({ err: error, request_id: requestId }, 'request failed'),
      ),
    }),
  );
  member.serve(edge);
  const opened = Promise.withResolvers<void>();
  const joined = Promise.withResolvers<void>();
  const follower = {
    store,
    barrier,
    cluster,
    logger,
    replication: member,
    instanceId: randomUUID(),
    version: VERSION,
    onUnsealed: async () => {
      const secret = config.workspaceBootstrapToken;
      // A secondary replicates the accounts of its primary.
      if (secret !== undefined && member.gate.closed === 'none')
        await adoptBootstrapToken(store, clock, secret);
      opened.resolve();
    },
    onSealed: () => edge.forget(),
    onFollowed: joined.resolve,
  };
  // All of this work writes records, and a secondary only follows those of its primary.
  const seal = { isSealed: () => barrier.isSealed || member.gate.closed !== 'none' };
  const periodicWork = {
    ...identityUpkeep(context, seal),
    ...workspacesUpkeep(context, seal),
    ...stateUpkeep(context, seal),
    ...runsUpkeep(context, seal),
    ...vcsUpkeep(context, seal),
    ...auditTrailUpkeep(context, limits.auditEvents, seal),
    ...contents.periodicWork,
  };
  let workers: readonly Worker[] = [];
  return {
    edge,
    identity: withRunner(createIdentity(context), {
      token: config.runnerToken,
      mayRun: () => member.gate.closed === 'none',
    }),
    workloadIdentity: createWorkloadIdentity(context),
    replica,
    joined: joined.promise,
    periodicWork,
    isRunWaiting: async () => !seal.isSealed() && isRunWaiting(context),
    ensureAdminToken: async () => {
      await opened.promise;
      return ensureAdminToken(store, clock);
    },
    start: () => {
      if (workers.length > 0) return Promise.resolve();
      const start = (name: string, run: (signal: AbortSignal) => Promise<void>) =>
        startWorker(name, run, { logger, clock });
      workers = [
        start('cluster state', (signal) => followCluster(follower, signal)),
        ...(storage ? [start('object storage', (signal) => storage.follow(signal))] : []),
        ...Object.entries(periodicWork).map(([name, work]) =>
          start(name, (signal) =>
            runPeriodically(
              {
                name: `workspace/${name}`,
                leases,
                clock,
                takeFence: (lease) => takeFence(parts.store, lease),
              },
              work,
              signal,
            ),
          ),
        ),
      ];
      return Promise.resolve();
    },
    stop: async () => {
      await Promise.all(workers.map((worker) => worker.stop()));
      await member.stop();
      await context.outbound.close();
      await storage?.close();
      workers = [];
    },
  };
};
