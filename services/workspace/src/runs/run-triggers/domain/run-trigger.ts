import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** A connection that queues a run in one workspace after a run was applied in another, the source. */
export const runTriggerShape = Type.Object({
  /** `rt-…`. */
  id: Type.String(),
  organizationId: Type.String(),
  /** `ws-…` in which runs are queued. */
  workspaceId: Type.String(),
  /** `ws-…` whose applies queue them. */
  sourceId: Type.String(),
  createdAtMs: Type.Number(),
});
export type RunTrigger = Shaped<typeof runTriggerShape>;

/** Maximum number of sources of a workspace. */
export const MAX_SOURCES = 20;

/**
 * Maximum number of workspaces with the same source: an apply queues a run in each within one transaction.
 */
export const MAX_TARGETS = 100;

/** Maximum number of workspaces searched for a cycle. */
export const MAX_CHAINED = 1000;
