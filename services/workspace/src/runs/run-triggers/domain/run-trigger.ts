/** A connection that queues a run in one workspace after a run was applied in another, the source. */
export interface RunTrigger {
  /** `rt-…`. */
  readonly id: string;
  readonly organizationId: string;
  /** `ws-…` in which runs are queued. */
  readonly workspaceId: string;
  /** `ws-…` whose applies queue them. */
  readonly sourceId: string;
  readonly createdAtMs: number;
}

/** Maximum number of sources of a workspace. */
export const MAX_SOURCES = 20;

/**
 * Maximum number of workspaces with the same source: an apply queues a run in each within one transaction.
 */
export const MAX_TARGETS = 100;

/** Maximum number of workspaces searched for a cycle. */
export const MAX_CHAINED = 1000;
