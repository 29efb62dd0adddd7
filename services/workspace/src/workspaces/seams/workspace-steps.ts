import type { Transaction } from '@keelson/storage';
import type { AgentPool } from '../model/domain/agent-pool.ts';
import type { OAuthClient } from '../model/domain/oauth-client.ts';
import type { Project } from '../model/domain/project.ts';
import type { Workspace } from '../model/domain/workspace.ts';

export interface WorkspaceChange {
  /** undefined for a new workspace. */
  readonly before: Workspace | undefined;
  readonly after: Workspace;
}

/** Steps of a capability or a later module when a workspace, a project or an agent pool changes. */
export interface WorkspaceSteps {
  /** In the transaction that writes the workspace, new or with other settings. */
  onWorkspaceStored?(tx: Transaction, change: WorkspaceChange): Promise<void>;
  /** Runs in the transaction that deletes the workspace. */
  onWorkspaceRemoved?(tx: Transaction, workspace: Workspace): Promise<void>;
  /** Runs in the transaction that deletes the project, which has no workspaces. */
  onProjectRemoved?(tx: Transaction, project: Project): Promise<void>;
  /** In the transaction that has written the client, or its token. */
  onOAuthClientUpdated?(tx: Transaction, client: OAuthClient): Promise<void>;
  /** In the transaction that deletes the token of a client, or both, while they are there. */
  onOAuthClientDisconnected?(tx: Transaction, client: OAuthClient): Promise<void>;
  /** @returns the workspace after its lock is released, to be written by the caller */
  onUnlock?(tx: Transaction, workspace: Workspace): Promise<Workspace>;
  /** Runs in the transaction that deletes the pool, before its records are deleted. */
  onAgentPoolRemoved?(tx: Transaction, pool: AgentPool, nowMs: number): Promise<void>;
}
