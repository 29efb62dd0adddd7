/**
 * One state of a workspace's infrastructure. A version is created as pending and gets its bytes when it is
 * finalized. It is discarded if a newer version overtakes it, or if the lock it was created under is removed.
 */

import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import {
  isHeldBy,
  type Lock,
  type LockHolder,
  lockHolderShape,
} from '../../../workspaces/model/domain/lock.ts';
import type { WorkspaceState } from '../../../workspaces/model/domain/workspace-state.ts';
import { storedContentShape } from '../../contents/domain/stored-content.ts';

export const STATE_STATUSES = [
  'pending',
  'finalized',
  'discarded',
  'backing_data_soft_deleted',
  'backing_data_permanently_deleted',
] as const;
export const stateStatusShape = Type.Enum(STATE_STATUSES);
export type StateStatus = Shaped<typeof stateStatusShape>;

export const announcedStateShape = Type.Object({
  serial: Type.Number(),
  /** Hexadecimal MD5 of the state's bytes. */
  md5: Type.String(),
  lineage: nullable(Type.String()),
  /** Overrides the checks of lineage and serial. */
  isForced: Type.Boolean(),
});
export type AnnouncedState = Shaped<typeof announcedStateShape>;

export const stateVersionShape = Type.Object({
  ...announcedStateShape.properties,
  /** `sv-…`. */
  id: Type.String(),
  /** Number within the workspace, from 1. It defines the order, also within one millisecond. */
  number: Type.Number(),
  workspaceId: Type.String(),
  organizationId: Type.String(),
  status: stateStatusShape,
  /** Uploaded during an apply; becomes current when the lock is released. */
  isIntermediate: Type.Boolean(),
  state: nullable(storedContentShape),
  jsonState: nullable(storedContentShape),
  formatVersion: nullable(Type.Number()),
  runtimeVersion: nullable(Type.String()),
  managedCount: Type.Number(),
  outputCount: Type.Number(),
  runId: nullable(Type.String()),
  createdBy: Type.Pick(lockHolderShape, ['kind', 'id']),
  /**
   * `at-…`, the token that created the version: an upload has the rights of this token at the time it
   * arrives.
   */
  announcedWith: Type.String(),
  /** The version with the same content, of which this one is a rollback. */
  rollbackOf: nullable(Type.String()),
  createdAtMs: Type.Number(),
  /** When its bytes were last withheld; absent before the first time. */
  withheldAtMs: Type.Optional(Type.Number()),
});
export type StateVersion = Shaped<typeof stateVersionShape>;

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
  latestChangeAtMs: version.createdAtMs,
});

/** The workspace's summary after `version` got its content. */
export const withFinalized = (state: WorkspaceState, version: StateVersion): WorkspaceState => {
  const next = { ...state, pendingId: state.pendingId === version.id ? null : state.pendingId };
  return version.isIntermediate ? { ...next, newestId: version.id } : withCurrent(next, version);
};
