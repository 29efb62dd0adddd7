/**
 * One state of a workspace's infrastructure. A version is announced first (pending) and has its bytes
 * when it is finalized; one that a newer version overtook, or whose lock was taken away, is discarded.
 */
import { isHeldBy, type Lock, type LockHolder } from '../../locking/domain/lock.ts';

export const STATE_STATUSES = [
  'pending',
  'finalized',
  'discarded',
  'backing_data_soft_deleted',
  'backing_data_permanently_deleted',
] as const;
export type StateStatus = (typeof STATE_STATUSES)[number];

/** Bytes kept apart from the records that describe them. */
export interface StoredContent {
  readonly id: string;
  readonly sizeBytes: number;
}

export interface AnnouncedState {
  readonly serial: number;
  /** Hex, of the state's bytes. */
  readonly md5: string;
  readonly lineage: string | null;
  /** Overrides what lineage and serial say. */
  readonly isForced: boolean;
}

export interface StateVersion extends AnnouncedState {
  /** `sv-…`. */
  readonly id: string;
  /** Counts the versions of the workspace from 1: their order, also within one millisecond. */
  readonly number: number;
  readonly workspaceId: string;
  readonly organizationId: string;
  readonly status: StateStatus;
  /** Taken during an apply: becomes current when the lock is given back. */
  readonly isIntermediate: boolean;
  readonly state: StoredContent | null;
  readonly jsonState: StoredContent | null;
  readonly formatVersion: number | null;
  readonly runtimeVersion: string | null;
  readonly managedCount: number;
  readonly outputCount: number;
  readonly runId: string | null;
  readonly createdBy: Pick<LockHolder, 'kind' | 'id'>;
  /** `at-…`, the token of the announcement: an upload may do what this token may do when it arrives. */
  readonly announcedWith: string;
  /** The version whose content this one repeats. */
  readonly rollbackOf: string | null;
  readonly createdAtMs: number;
  /** When its bytes were withheld, the last time; absent before the first. */
  readonly withheldAtMs?: number;
}

/** What a workspace knows of its states. */
export interface WorkspaceState {
  readonly currentId: string | null;
  /** The newest with content: current, or intermediate and waiting for the unlock. */
  readonly newestId: string | null;
  /** Announced, not uploaded yet. */
  readonly pendingId: string | null;
  /** Number of the newest version, whatever became of it; 0 before the first. */
  readonly newestNumber: number;
  readonly resourceCount: number;
  readonly outputCount: number;
}

export const NO_STATE: WorkspaceState = {
  currentId: null,
  newestId: null,
  pendingId: null,
  newestNumber: 0,
  resourceCount: 0,
  outputCount: 0,
};

export type UploadRefusal =
  | { readonly kind: 'not_locked' }
  | { readonly kind: 'held_by_other'; readonly holder: LockHolder };

/**
 * States are written by the holder of the lock alone, and by a run that lost it by force while it works
 * (`unlockedRunId`).
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

/** Whether a state may follow the newest one: serials grow within one lineage; the same may come again. */
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

/** The workspace's view once `version` is what counts. */
export const withCurrent = (state: WorkspaceState, version: StateVersion): WorkspaceState => ({
  ...state,
  currentId: version.id,
  newestId: version.id,
  resourceCount: version.managedCount,
  outputCount: version.outputCount,
});

/** The workspace's view once `version` has its content. */
export const withFinalized = (state: WorkspaceState, version: StateVersion): WorkspaceState => {
  const next = { ...state, pendingId: state.pendingId === version.id ? null : state.pendingId };
  return version.isIntermediate ? { ...next, newestId: version.id } : withCurrent(next, version);
};
