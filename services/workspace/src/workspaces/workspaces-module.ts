/**
 * The workspaces module: projects and workspaces with their settings, and the access of teams and runs to
 * them.
 */
import type { Route } from '@keelson/edge';
import type { ResourceSchema } from '@keelson/jsonapi';
import { partAdministrationRoutes } from './administration/part-administration-routes.ts';
import { AGENT_POOL_CONTRIBUTION } from './agent-pools/agent-pool-contribution.ts';
import { AGENT_POOL } from './agent-pools/agent-pool-document.ts';
import { agentPoolRoutes } from './agent-pools/agent-pool-routes.ts';
import { toWorkspaceSchema } from './lifecycle/workspace-document.ts';
import { WORKSPACE_INCLUDES } from './lifecycle/workspace-includes.ts';
import { workspaceMoveRoutes } from './lifecycle/workspace-move-routes.ts';
import { workspaceRoutes } from './lifecycle/workspace-routes.ts';
import { WORKSPACE_LOCK } from './locking/held-lock-document.ts';
import { lockRoutes } from './locking/lock-routes.ts';
import { NOTIFICATION_CONFIGURATION } from './notifications/notification-document.ts';
import { notificationRoutes } from './notifications/notification-routes.ts';
import { oauthClientRoutes } from './oauth/oauth-client-routes.ts';
import { OAUTH_AUTHORIZATION, OAUTH_CLIENT, OAUTH_TOKEN } from './oauth/oauth-document.ts';
import { oauthTokenRoutes } from './oauth/oauth-token-routes.ts';
import { PROJECT } from './projects/project-document.ts';
import { projectRoutes } from './projects/project-routes.ts';
import type { WorkspaceContribution } from './seams/workspace-contributions.ts';
import type { WorkspacesContext } from './seams/workspaces-context.ts';
import { SSH_KEY } from './ssh-keys/ssh-key-document.ts';
import { sshKeyRoutes } from './ssh-keys/ssh-key-routes.ts';
import { consumerRoutes } from './state-consumers/consumer-routes.ts';
import { organizationTagRoutes } from './tags/organization-tag-routes.ts';
import { RESERVED_TAG_KEY } from './tags/reserved-key-document.ts';
import { reservedKeyRoutes } from './tags/reserved-key-routes.ts';
import { EFFECTIVE_TAG_BINDING, TAG, TAG_BINDING } from './tags/tag-document.ts';
import { tagRoutes } from './tags/tag-routes.ts';
import { TEAM_PROJECT, TEAM_WORKSPACE } from './team-access/grant-document.ts';
import { teamAccessRoutes } from './team-access/team-access-routes.ts';
import { effectiveVariableRoutes } from './variable-sets/effective-variable-routes.ts';
import { VARIABLE_SET } from './variable-sets/variable-set-document.ts';
import { variableSetRoutes } from './variable-sets/variable-set-routes.ts';
import { variableSetScopeRoutes } from './variable-sets/variable-set-scope-routes.ts';
import { variableSetVariableRoutes } from './variable-sets/variable-set-variable-routes.ts';
import { VARIABLE } from './variables/variable-document.ts';
import { variableRoutes } from './variables/variable-routes.ts';

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
  ...partAdministrationRoutes(context),
];

/** Parts that this module's own capabilities add to workspace documents. */
export const WORKSPACES_CONTRIBUTIONS: readonly WorkspaceContribution[] = [
  WORKSPACE_INCLUDES,
  AGENT_POOL_CONTRIBUTION,
];

/** The resources that these routes answer with. */
export const workspacesResources = ({
  workspaceContributions,
}: Pick<WorkspacesContext, 'workspaceContributions'>): readonly ResourceSchema[] => [
  PROJECT,
  toWorkspaceSchema(workspaceContributions),
  WORKSPACE_LOCK,
  TAG,
  TAG_BINDING,
  EFFECTIVE_TAG_BINDING,
  RESERVED_TAG_KEY,
  TEAM_WORKSPACE,
  TEAM_PROJECT,
  SSH_KEY,
  VARIABLE,
  VARIABLE_SET,
  AGENT_POOL,
  OAUTH_AUTHORIZATION,
  OAUTH_CLIENT,
  OAUTH_TOKEN,
  NOTIFICATION_CONFIGURATION,
];
