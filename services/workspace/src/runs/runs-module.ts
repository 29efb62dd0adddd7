/** The runs module: runs, the agents that execute them, health assessments and auto-destroy. */
import type { Route } from '@keelson/edge';
import type { ResourceSchema } from '@keelson/jsonapi';
import type { Projection } from '@keelson/storage';
import type { WorkspaceContribution } from '../workspaces/seams/workspace-contributions.ts';
import { AGENT_RUN } from './agent-runs/agent-run-document.ts';
import { agentRunRoutes } from './agent-runs/agent-run-routes.ts';
import { AGENT } from './agents/agent-document.ts';
import { AGENT_PROJECTIONS } from './agents/agent-projections.ts';
import { agentPresenceRoutes, agentRoutes } from './agents/agent-routes.ts';
import { ASSESSMENT_RESULT } from './assessments/assessment-document.ts';
import { assessmentRoutes } from './assessments/assessment-routes.ts';
import { WORKSPACE_ASSESSMENT_CONTRIBUTION } from './assessments/workspace-assessment-contribution.ts';
import { forcedUnlockRoutes } from './forced-unlocks/forced-unlock-routes.ts';
import { runConfigurationRoutes } from './lifecycle/run-configuration-routes.ts';
import { APPLY, ORGANIZATION_CAPACITY, PLAN, RUN } from './lifecycle/run-document.ts';
import { runFileRoutes, runFileTransferRoutes } from './lifecycle/run-file-routes.ts';
import { COMMENT, RUN_EVENT } from './lifecycle/run-history-document.ts';
import { runHistoryRoutes } from './lifecycle/run-history-routes.ts';
import { RUN_PROJECTIONS } from './lifecycle/run-projections.ts';
import { runRoutes } from './lifecycle/run-routes.ts';
import { RUN_STATISTICS, runStatisticsRoutes } from './lifecycle/run-statistics-routes.ts';
import { WORKSPACE_RUN_CONTRIBUTION } from './lifecycle/workspace-run-contribution.ts';
import { RUN_CHECKS } from './run-checks/run-check-document.ts';
import { runCheckRoutes } from './run-checks/run-check-routes.ts';
import { RUN_TRIGGER } from './run-triggers/run-trigger-document.ts';
import { runTriggerRoutes } from './run-triggers/run-trigger-routes.ts';
import { runnerRoutes } from './runner/runner-routes.ts';
import type { RunsContext } from './seams/runs-context.ts';
import { workloadKeyRoutes } from './workload-identity/workload-key-routes.ts';

export const runsRoutes = (context: RunsContext): readonly Route[] => [
  ...agentRoutes(context),
  ...forcedUnlockRoutes(context),
  ...runRoutes(context),
  ...runStatisticsRoutes(context),
  ...runConfigurationRoutes(context),
  ...runHistoryRoutes(context),
  ...runCheckRoutes(context),
  ...runTriggerRoutes(context),
  ...runFileRoutes(context),
  ...assessmentRoutes(context),
  ...workloadKeyRoutes(context),
];

/** Routes for agents and the built-in runner, and routes authorized by a signed URL. */
export const agentAndSignedRoutes = (context: RunsContext): readonly Route[] => [
  ...runFileTransferRoutes(context),
  ...agentPresenceRoutes(context),
  ...agentRunRoutes(context),
  ...runnerRoutes(context),
];

export const RUNS_PROJECTIONS: readonly Projection[] = [...RUN_PROJECTIONS, ...AGENT_PROJECTIONS];

export const RUNS_WORKSPACE_CONTRIBUTIONS: readonly WorkspaceContribution[] = [
  WORKSPACE_RUN_CONTRIBUTION,
  WORKSPACE_ASSESSMENT_CONTRIBUTION,
];

/** The resources that these routes answer with. */
export const RUNS_RESOURCES: readonly ResourceSchema[] = [
  RUN,
  PLAN,
  APPLY,
  RUN_EVENT,
  COMMENT,
  ...RUN_CHECKS,
  ORGANIZATION_CAPACITY,
  RUN_STATISTICS,
  RUN_TRIGGER,
  ASSESSMENT_RESULT,
  AGENT,
  AGENT_RUN,
];
