import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** A pool of agents, and the workspaces whose runs it may execute. */
export const agentPoolShape = Type.Object({
  /** `apool-…`. */
  id: Type.String(),
  organizationId: Type.String(),
  name: Type.String(),
  /** Whether the whole organization may use it; otherwise only the workspaces and projects allowed here. */
  organizationScoped: Type.Boolean(),
  allowedWorkspaceIds: Type.Array(Type.String()),
  /** Projects whose workspaces may all use it, and which may have it as their default. */
  allowedProjectIds: Type.Array(Type.String()),
  /** Workspaces that may not use it, even if another setting allows it. */
  excludedWorkspaceIds: Type.Array(Type.String()),
  /** Addresses, ranges and names of hosts: its runs reach nothing else. Null leaves it to the settings of its agents. */
  allowedEgress: Type.Union([Type.Null(), Type.Array(Type.String())]),
  createdAtMs: Type.Number(),
});
export type AgentPool = Shaped<typeof agentPoolShape>;

/** Text of public clients for a pool that the caller cannot name. */
export const NO_SUCH_POOL =
  'the provided agent pool does not exist or you are not authorized to use it';

/** A workspace whose own settings name the pool, or a project or organization whose default it is. */
export const poolUserShape = Type.Union([
  Type.Object({
    kind: Type.Literal('organization'),
    id: Type.String(),
    organizationId: Type.String(),
  }),
  Type.Object({ kind: Type.Literal('project'), id: Type.String(), organizationId: Type.String() }),
  Type.Object({
    kind: Type.Literal('workspace'),
    id: Type.String(),
    organizationId: Type.String(),
    projectId: Type.String(),
  }),
]);
export type PoolUser = Shaped<typeof poolUserShape>;

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

/** The name of a host, or of all hosts of a domain. */
export const isHostPattern = (text: string): boolean =>
  text.length <= 253 &&
  /^(?:\*\.)?(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)*[a-z][a-z\d-]{0,62}$/i.test(text);

export const isAgentPoolName = (name: string): boolean => /^[\w .+@-]{1,90}$/.test(name);
