/** A pool of agents, and the workspaces whose runs it may execute. */
export interface AgentPool {
  /** `apool-…`. */
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  /** Whether the whole organization may use it; otherwise only the workspaces and projects allowed here. */
  readonly organizationScoped: boolean;
  readonly allowedWorkspaceIds: readonly string[];
  /** Projects whose workspaces may all use it, and which may have it as their default. */
  readonly allowedProjectIds: readonly string[];
  /** Workspaces that may not use it, even if another setting allows it. */
  readonly excludedWorkspaceIds: readonly string[];
  readonly createdAtMs: number;
}

/** Text of public clients for a pool that the caller cannot name. */
export const NO_SUCH_POOL =
  'the provided agent pool does not exist or you are not authorized to use it';

/** A workspace whose own settings name the pool, or a project or organization whose default it is. */
export type PoolUser =
  | { readonly kind: 'organization'; readonly id: string; readonly organizationId: string }
  | { readonly kind: 'project'; readonly id: string; readonly organizationId: string }
  | {
      readonly kind: 'workspace';
      readonly id: string;
      readonly organizationId: string;
      readonly projectId: string;
    };

/**
 * Whether a user may use the pool. A workspace that inherits its pool may, because its project or the whole
 * organization may.
 */
export const isOpenTo = (pool: AgentPool, user: PoolUser): boolean => {
  if (user.kind === 'workspace' && pool.excludedWorkspaceIds.includes(user.id)) return false;
  if (pool.organizationScoped) return true;
  switch (user.kind) {
    case 'organization':
      return false;
    case 'project':
      return pool.allowedProjectIds.includes(user.id);
    case 'workspace':
      return (
        pool.allowedWorkspaceIds.includes(user.id) ||
        pool.allowedProjectIds.includes(user.projectId)
      );
  }
};

/** The pool without its references to a workspace or project. */
export const withoutNamed = (pool: AgentPool, id: string): AgentPool => {
  const others = (ids: readonly string[]) => ids.filter((named) => named !== id);
  return {
    ...pool,
    allowedWorkspaceIds: others(pool.allowedWorkspaceIds),
    allowedProjectIds: others(pool.allowedProjectIds),
    excludedWorkspaceIds: others(pool.excludedWorkspaceIds),
  };
};

export const isAgentPoolName = (name: string): boolean => /^[\w .+@-]{1,90}$/.test(name);
