/**
 * The lock of a workspace: one holder, no time limit, not reentrant. Users and teams may release only their
 * own lock; a run releases its lock when it ends.
 */
export type HolderKind = 'user' | 'team' | 'run';

export interface LockHolder {
  readonly kind: HolderKind;
  /** `user-…`, `team-…`, `run-…`. */
  readonly id: string;
}

export interface Lock {
  readonly holder: LockHolder;
  readonly reason: string;
  readonly lockedAtMs: number;
}

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
