/** A pool of agents: who may have its runs executed there. */
export interface AgentPool {
  /** `apool-…`. */
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  /** Everything in the organization may use it; otherwise only what is allowed here. */
  readonly organizationScoped: boolean;
  readonly allowedWorkspaceIds: readonly string[];
  /** All workspaces of these projects, and the projects as their default. */
  readonly allowedProjectIds: readonly string[];
  /** May not use it, whatever else is allowed. */
  readonly excludedWorkspaceIds: readonly string[];
  readonly createdAtMs: number;
}

/** What names a pool of its own: a workspace, or a project or organization as its default. */
export type PoolUser =
  | { readonly kind: 'organization'; readonly id: string; readonly organizationId: string }
  | { readonly kind: 'project'; readonly id: string; readonly organizationId: string }
  | {
      readonly kind: 'workspace';
      readonly id: string;
      readonly organizationId: string;
      readonly projectId: string;
    };

/** A workspace that inherits its pool may use it: its project, or all of the organization, may. */
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

/** The pool that names a workspace or project nowhere; the same object where it did not. */
export const withoutNamed = (pool: AgentPool, id: string): AgentPool => {
  const others = (ids: readonly string[]) => ids.filter((named) => named !== id);
  const { allowedWorkspaceIds, allowedProjectIds, excludedWorkspaceIds } = pool;
  return [allowedWorkspaceIds, allowedProjectIds, excludedWorkspaceIds].some((ids) =>
    ids.includes(id),
  )
    ? {
        ...pool,
        allowedWorkspaceIds: others(allowedWorkspaceIds),
        allowedProjectIds: others(allowedProjectIds),
        excludedWorkspaceIds: others(excludedWorkspaceIds),
      }
    : pool;
};

export const isAgentPoolName = (name: string): boolean => /^[\w .+@-]{1,90}$/.test(name);
