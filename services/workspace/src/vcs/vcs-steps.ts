/** Steps of this module when workspaces and connections change. */
import type { WorkspaceSteps } from '../workspaces/seams/workspace-steps.ts';
import { endAttemptsOf } from './agent-work/agent-work-upkeep.ts';
import { pendingAuthorizations } from './authorization/authorization-records.ts';
import {
  followWorkspace,
  leaveWithWorkspace,
  removeHooksOf,
  retryRegistrations,
  type WebhookContext,
} from './hooks/hook-operations.ts';

export const vcsWorkspaceSteps = (context: WebhookContext): WorkspaceSteps => {
  const nowMs = (): number => context.clock.nowMs();
  return {
    onWorkspaceStored: (tx, change) => followWorkspace(context, tx, change),
    onWorkspaceRemoved: (tx, workspace) => leaveWithWorkspace(tx, workspace, nowMs()),
    onOAuthClientUpdated: (tx, client) => retryRegistrations(tx, client, nowMs()),
    onAgentPoolRemoved: (tx, pool) => endAttemptsOf(tx, pool),
    onOAuthClientDisconnected: (tx, client) => {
      pendingAuthorizations.delete(tx, client.id);
      return removeHooksOf(tx, client, nowMs());
    },
  };
};
