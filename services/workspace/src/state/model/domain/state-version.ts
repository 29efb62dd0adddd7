/**
 * One state of a workspace's infrastructure. A version is created as pending and gets its bytes when it is
 * finalized. It is discarded if a newer version overtakes it, or if the lock it was created under is removed.
 */

import { isHeldBy, type Lock, type LockHolder } from '../../../workspaces/model/domain/lock.ts';
import type { WorkspaceState } from '../../../workspaces/model/domain/workspace-state.ts';
import type { StoredContent } from '../../contents/domain/stored-content.ts';

export const STATE_STATUSES = [
  'pending',
  'finalized',
  'discarded',
  'backing_data_soft_deleted',
  'backing_data_permanently_deleted',
] as const;
export type StateStatus = (typeof STATE_STATUSES)[number];

export interface AnnouncedState {
  readonly serial: number;
  /** Hexadecimal MD5 of the state's bytes. */
  readonly md5: string;
  readonly lineage: string | null;
  /** Overrides the checks of lineage and serial. */
  readonly isForced: boolean;
}

export interface StateVersion extends AnnouncedState {
  /** `sv-…`. */
  readonly id: string;
  /** Number within the workspace, from 1. It defines the order, also within one millisecond. */
  readonly number: number;
  readonly workspaceId: string;
  readonly organizationId: string;
  readonly status: StateStatus;
  /** Uploaded during an apply; becomes current when the lock is released. */
  readonly isIntermediate: boolean;
  readonly state: StoredContent | null;
  readonly jsonState: StoredContent | null;
  readonly formatVersion: number | null;
  readonly runtimeVersion: string | null;
  readonly managedCount: number;
  readonly outputCount: number;
  readonly runId: string | null;
  readonly createdBy: Pick<LockHolder, 'kind' | 'id'>;
  /**
   * `at-…`, the token that created the version: an upload has the rights of this token at the time it
   * arrives.
   */
  readonly announcedWith: string;
  /** The version with the same content, of which this one is a rollback. */
  readonly rollbackOf: string | null;
  readonly createdAtMs: number;
  /** When its bytes were last withheld; absent before the first time. */
  readonly withheldAtMs?: number;
}

export type UploadRefusal =
  | { readonly kind: 'not_locked' }
  | { readonly kind: 'held_by_other'; readonly holder: LockHolder };

/**
 * States may be written only by the holder of the lock, and by a run that lost the lock by force while it is
 * still working (`unlockedRunId`).
 */
export const decideWriter = (
  lock: Lock | null,
  unlockedRunId: string | null,
  by: Pick<LockHolder, 'kind' | 'id'>,
): UploadRefusal | undefined => {
  if (by.kind === 'run' && by.id === unlockedRunId) return undefined;
  if (lock === null) return { kind: 'not_locked' };
  return isHeldBy(lock, by) ? undefined : { kind: 'held_by_other', holder: lock.holder };
};

export type Succession = 'accepted' | 'lineage_differs' | 'serial_too_low' | 'content_differs';

/**
 * Whether a state may follow the newest one: within a lineage, serials increase; an equal serial may repeat
 * the same content.
 */
export const decideSuccession = (
  newest: StateVersion | undefined,
  { serial, md5, lineage, isForced }: AnnouncedState,
): Succession => {
  if (newest === undefined) return 'accepted';
  const isSameLineage = lineage === null || newest.lineage === null || lineage === newest.lineage;
  if (isForced) return 'accepted';
  if (!isSameLineage) return 'lineage_differs';
  if (serial < newest.serial) return 'serial_too_low';
  return serial === newest.serial && md5 !== newest.md5 ? 'content_differs' : 'accepted';
};

/** The workspace's summary with `version` as the current state. */
export const withCurrent = (state: WorkspaceState, version: StateVersion): WorkspaceState => ({
  ...state,
  currentId: version.id,
  newestId: version.id,
  resourceCount: version.managedCount,
  outputCount: version.outputCount,
});

/** The workspace's summary after `version` got its content. */
export const withFinalized = (state: WorkspaceState, version: StateVersion): WorkspaceState => {
  const next = { ...state, pendingId: state.pendingId === version.id ? null : state.pendingId };
  return version.isIntermediate ? { ...next, newestId: version.id } : withCurrent(next, version);
};
