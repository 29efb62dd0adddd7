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
  createEdgeService,
  type EdgeService,
  type RepeatingService,
  type Route,
  repeatAnswers,
} from '@keelson/edge';
import { createErrorRenderer } from '@keelson/jsonapi';
import { type LeaseStore, type PeriodicWork, runPeriodically } from '@keelson/locks';
import type { Logger } from '@keelson/logging';
import type { ClusterDefinition } from '@keelson/proto/sys/v1/cluster';
import type { ReplicationMemberDefinition } from '@keelson/proto/sys/v1/replication';
import type { IdentityDefinition } from '@keelson/proto/workspace/v1/identity';
import type { RpcService } from '@keelson/rpc';
import { startWorker, VERSION, type Worker } from '@keelson/runtime';
import { type Barrier, type Projection, type Store, takeFence } from '@keelson/storage';
import { notFound } from './access/access-operations.ts';
import { teamProjectRoutes } from './access/team-project-routes.ts';
import { teamWorkspaceRoutes } from './access/team-workspace-routes.ts';
import { agentRunRoutes } from './agent-runs/agent-run-routes.ts';
import { agentPoolRoutes } from './agents/agent-pool-routes.ts';
import { AGENT_PROJECTIONS } from './agents/agent-projections.ts';
import { agentPresenceRoutes, agentRoutes } from './agents/agent-routes.ts';
import { apiDescriptionRoutes } from './api-description/api-description-routes.ts';
import { assessmentRoutes } from './assessments/assessment-routes.ts';
import type { WorkspaceConfig } from './config.ts';
import { configurationTransferRoutes } from './configuration-versions/configuration-transfer-routes.ts';
import { CONFIGURATION_VERSION_PROJECTIONS } from './configuration-versions/configuration-version-projections.ts';
import { configurationVersionRoutes } from './configuration-versions/configuration-version-routes.ts';
import { lockRoutes } from './locking/lock-routes.ts';
import { oauthClientRoutes } from './oauth/oauth-client-routes.ts';
import { oauthTokenRoutes } from './oauth/oauth-token-routes.ts';
import { organizationMembershipRoutes } from './organization-memberships/membership-routes.ts';
import { organizationRoutes } from './organizations/organization-routes.ts';
import { projectRoutes } from './projects/project-routes.ts';
import { retentionRoutes } from './retention/retention-routes.ts';
import { createIdentity } from './rpc/identity-rpc.ts';
import { runFileRoutes, runFileTransferRoutes } from './runs/run-file-routes.ts';
import { runHistoryRoutes } from './runs/run-history-routes.ts';
import { createRunOrder } from './runs/run-order.ts';
import { RUN_PROJECTIONS } from './runs/run-projections.ts';
import { runRoutes } from './runs/run-routes.ts';
import type { ServiceContext } from './service-context.ts';
import { sshKeyRoutes } from './ssh-keys/ssh-key-routes.ts';
import { consumerRoutes } from './state-consumers/consumer-routes.ts';
import { outputRoutes } from './states/output-routes.ts';
import { stateTransferRoutes } from './states/state-transfer-routes.ts';
import { STATE_VERSION_PROJECTIONS } from './states/state-version-projections.ts';
import { stateVersionRoutes } from './states/state-version-routes.ts';
import { organizationTagRoutes } from './tags/organization-tag-routes.ts';
import { reservedKeyRoutes } from './tags/reserved-key-routes.ts';
import { tagRoutes } from './tags/tag-routes.ts';
import { teamRoutes } from './teams/team-routes.ts';
import { adoptBootstrapToken, ensureAdminToken } from './tokens/first-token-operations.ts';
import { tokenRoutes } from './tokens/token-routes.ts';
import { userRoutes } from './users/user-routes.ts';
import { variableRoutes } from './variables/variable-routes.ts';
import { agentUpkeep } from './workers/agent-upkeep.ts';
import { assessments } from './workers/assessments.ts';
import { autoDestroy } from './workers/auto-destroy.ts';
import { followCluster } from './workers/cluster-state.ts';
import { stateUpkeep } from './workers/state-upkeep.ts';
import { managedInstanceRoutes } from './workspace-resources/managed-instance-routes.ts';
import { sortReleases } from './workspaces/domain/runtime-version.ts';
import { createWorkspaceListing } from './workspaces/projected-workspace-listing.ts';
import { LISTING_PROJECTIONS } from './workspaces/workspace-projections.ts';
import { workspaceRoutes } from './workspaces/workspace-routes.ts';

export { workspaceConfigSchema } from './config.ts';

/** What the service's store is opened with. */
export const WORKSPACE_PROJECTIONS: readonly Projection[] = [
  ...LISTING_PROJECTIONS,
  ...STATE_VERSION_PROJECTIONS,
  ...CONFIGURATION_VERSION_PROJECTIONS,
  ...RUN_PROJECTIONS,
  ...AGENT_PROJECTIONS,
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
}

export interface WorkspaceService {
  readonly edge: EdgeService;
  readonly identity: RpcService<typeof IdentityDefinition>;
  /** This service's part in replication, for sys. */
  readonly replica: RpcService<typeof ReplicationMemberDefinition>;
  /** What runs in the background while started, by name. */
  readonly periodicWork: Readonly<Record<string, PeriodicWork>>;
  /** Waits until the cluster is unsealed; see `first-token-operations.ts`. */
  ensureAdminToken(): Promise<{ token: string }>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

const STATES = '/state-versions/:state_version_id';

/** What the token of a run opens besides its own routes: states, as far as they are shared with it. */
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

/** Agents take runs and report on them, runs read and write states: nothing else of the API is theirs. */
const forPeople = (route: Route): Route => ({
  ...route,
  handle: async (exchange) => {
    const kind = exchange.head.principal?.kind;
    const isRefused =
      kind === 'agent' || (kind === 'run' && !FOR_RUNS.has(`${route.method} ${route.path}`));
    if (isRefused) throw notFound('resource');
    return route.handle(exchange);
  },
});

const routesForPeople = (context: ServiceContext): readonly Route[] => [
  ...organizationRoutes(context),
  ...projectRoutes(context),
  ...workspaceRoutes(context),
  ...lockRoutes(context),
  ...tagRoutes(context),
  ...organizationTagRoutes(context),
  ...reservedKeyRoutes(context),
  ...consumerRoutes(context),
  ...teamRoutes(context),
  ...organizationMembershipRoutes(context),
  ...teamWorkspaceRoutes(context),
  ...teamProjectRoutes(context),
  ...sshKeyRoutes(context),
  ...retentionRoutes(context),
  ...stateVersionRoutes(context),
  ...outputRoutes(context),
  ...managedInstanceRoutes(context),
  ...userRoutes(context),
  ...tokenRoutes(context),
  ...variableRoutes(context),
  ...agentPoolRoutes(context),
  ...agentRoutes(context),
  ...oauthClientRoutes(context),
  ...oauthTokenRoutes(context),
  ...configurationVersionRoutes(context),
  ...runRoutes(context),
  ...runHistoryRoutes(context),
  ...runFileRoutes(context),
  ...assessmentRoutes(context),
];

/** Every route of the API; the table of callers in the tests is made from it. */
export const workspaceServiceRoutes = (context: ServiceContext): readonly Route[] => [
  ...routesForPeople(context).map(forPeople),
  ...stateTransferRoutes(context),
  ...configurationTransferRoutes(context),
  ...runFileTransferRoutes(context),
  ...agentPresenceRoutes(context),
  ...agentRunRoutes(context),
];

export const composeWorkspace = (parts: WorkspaceParts): WorkspaceService => {
  const { config, barrier, leases, clock, cluster } = parts;
  const logger = parts.logger.child({ service: 'workspace' });
  const {
    store,
    member,
    rpc: replica,
  } = composeServiceReplication(parts, {
    service: 'workspace',
    logger,
    areas: [{ below: 'shared/', group: WORKSPACE_GROUP }],
    edge: () => edge,
  });
  const context: ServiceContext = {
    store,
    clock,
    listing: createWorkspaceListing(store),
    runtimeVersions: sortReleases(config.workspaceRuntimeVersions),
    nextRunOrder: createRunOrder(clock),
    globalRemoteState: config.workspaceGlobalRemoteState,
    assessmentIntervalMs: config.workspaceAssessmentIntervalSeconds * 1000,
  };
  const edge: RepeatingService = repeatAnswers(
    createEdgeService({
      service: 'workspace',
      version: VERSION,
      pathPrefix: '/api/v2',
      check: async () => {
        await store.position();
        return member.impaired();
      },
      routes: forwardingRoutes(member, [
        ...workspaceServiceRoutes(context),
        ...apiDescriptionRoutes(() => edge.describe(), clock.nowMs()),
      ]),
      renderError: createErrorRenderer((error, requestId) =>
        logger.error({ err: error, request_id: requestId }, 'request failed'),
      ),
    }),
  );
  const opened = Promise.withResolvers<void>();
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
      // A secondary has the accounts of its primary.
      if (secret !== undefined && member.gate.closed === 'none')
        await adoptBootstrapToken(store, clock, secret);
      opened.resolve();
    },
    onSealed: () => edge.forget(),
  };
  // All of it writes what a secondary only follows.
  const seal = { isSealed: () => barrier.isSealed || member.gate.closed !== 'none' };
  const periodicWork = {
    ...stateUpkeep(context, seal),
    ...autoDestroy(context, seal),
    ...assessments(context, seal),
    ...agentUpkeep(context, seal),
  };
  let workers: readonly Worker[] = [];
  return {
    edge,
    identity: createIdentity(store, clock),
    replica,
    periodicWork,
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
      workers = [];
    },
  };
};
