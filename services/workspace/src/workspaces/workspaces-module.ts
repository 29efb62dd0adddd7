/**
 * The workspaces module: projects and workspaces with their settings, and the access of teams and runs to
 * them.
 */
import type { Route } from '@keelson/edge';
import { AGENT_POOL_CONTRIBUTION } from './agent-pools/agent-pool-contribution.ts';
import { agentPoolRoutes } from './agent-pools/agent-pool-routes.ts';
import { lockRoutes } from './locking/lock-routes.ts';
import { notificationRoutes } from './notifications/notification-routes.ts';
import { oauthClientRoutes } from './oauth/oauth-client-routes.ts';
import { oauthTokenRoutes } from './oauth/oauth-token-routes.ts';
import { projectRoutes } from './projects/project-routes.ts';
import type { WorkspaceContribution } from './seams/workspace-contributions.ts';
import type { WorkspacesContext } from './seams/workspaces-context.ts';
import { sshKeyRoutes } from './ssh-keys/ssh-key-routes.ts';
import { consumerRoutes } from './state-consumers/consumer-routes.ts';
import { organizationTagRoutes } from './tags/organization-tag-routes.ts';
import { reservedKeyRoutes } from './tags/reserved-key-routes.ts';
import { tagRoutes } from './tags/tag-routes.ts';
import { teamAccessRoutes } from './team-access/team-access-routes.ts';
import { effectiveVariableRoutes } from './variable-sets/effective-variable-routes.ts';
import { variableSetRoutes } from './variable-sets/variable-set-routes.ts';
import { variableSetScopeRoutes } from './variable-sets/variable-set-scope-routes.ts';
import { variableSetVariableRoutes } from './variable-sets/variable-set-variable-routes.ts';
import { variableRoutes } from './variables/variable-routes.ts';
import { WORKSPACE_INCLUDES } from './workspaces/workspace-includes.ts';
import { workspaceMoveRoutes } from './workspaces/workspace-move-routes.ts';
import { workspaceRoutes } from './workspaces/workspace-routes.ts';

export const workspacesRoutes = (context: WorkspacesContext): readonly Route[] => [
  ...projectRoutes(context),
  ...workspaceRoutes(context),
  ...workspaceMoveRoutes(context),
  ...lockRoutes(context),
  ...tagRoutes(context),
  ...organizationTagRoutes(context),
  ...reservedKeyRoutes(context),
  ...consumerRoutes(context),
  ...teamAccessRoutes(context),
  ...sshKeyRoutes(context),
  ...variableRoutes(context),
  ...variableSetRoutes(context),
  ...variableSetScopeRoutes(context),
  ...variableSetVariableRoutes(context),
  ...effectiveVariableRoutes(context),
  ...agentPoolRoutes(context),
  ...oauthClientRoutes(context),
  ...oauthTokenRoutes(context),
  ...notificationRoutes(context),
];

/** Parts that this module's own capabilities add to workspace documents. */
export const WORKSPACES_CONTRIBUTIONS: readonly WorkspaceContribution[] = [
  WORKSPACE_INCLUDES,
  AGENT_POOL_CONTRIBUTION,
];
