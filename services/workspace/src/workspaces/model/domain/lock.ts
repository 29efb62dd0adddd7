import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/**
 * The lock of a workspace: one holder, no time limit, not reentrant. Users and teams may release only their
 * own lock; a run releases its lock when it ends.
 */
export const holderKindShape = Type.Enum(['user', 'team', 'run']);

export const lockHolderShape = Type.Object({
  kind: holderKindShape,
  /** `user-…`, `team-…`, `run-…`. */
  id: Type.String(),
});
export type LockHolder = Shaped<typeof lockHolderShape>;

export const lockShape = Type.Object({
  holder: lockHolderShape,
  reason: Type.String(),
  lockedAtMs: Type.Number(),
});
export type Lock = Shaped<typeof lockShape>;

/** Who may write states and start runs that need the lock. */
export const workspaceLockingShape = Type.Object({
  lock: nullable(lockShape),
  /**
   * The run (`run-…`) that lost the lock by force while an agent worked on it. Until its phase ends, the run
   * may still write states and no other run starts. Null if there is none.
   */
  unlockedRunId: nullable(Type.String()),
});
export type WorkspaceLocking = Shaped<typeof workspaceLockingShape>;

export const UNLOCKED: WorkspaceLocking = { lock: null, unlockedRunId: null };

/** @param stored what is in a record of its own, if there is one */
export const lockingOf = (
  { locking }: { readonly locking?: WorkspaceLocking | undefined },
  stored: WorkspaceLocking | undefined,
): WorkspaceLocking => locking ?? stored ?? UNLOCKED;

export type LockDecision =
  | { readonly kind: 'locked'; readonly lock: Lock }
  | { readonly kind: 'held'; readonly by: Lock };

export const decideLock = (current: Lock | null, wanted: Lock): LockDecision =>
  current === null ? { kind: 'locked', lock: wanted } : { kind: 'held', by: current };

export type UnlockDecision =
  | { readonly kind: 'unlocked' }
  | { readonly kind: 'not_locked' }
  | { readonly kind: 'held_by_other'; readonly by: Lock };

export const isHeldBy = (lock: Lock, { kind, id }: Pick<LockHolder, 'kind' | 'id'>): boolean =>
  lock.holder.kind === kind && lock.holder.id === id;

export const decideUnlock = (
  current: Lock | null,
  by: Pick<LockHolder, 'kind' | 'id'>,
): UnlockDecision => {
  if (current === null) return { kind: 'not_locked' };
  return isHeldBy(current, by) ? { kind: 'unlocked' } : { kind: 'held_by_other', by: current };
};
