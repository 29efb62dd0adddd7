import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** Summary of a workspace's states, maintained by the state module. */
export const workspaceStateShape = Type.Object({
  currentId: nullable(Type.String()),
  /** The newest version with content: current, or intermediate until the lock is released. */
  newestId: nullable(Type.String()),
  /** The pending version, if any. */
  pendingId: nullable(Type.String()),
  /** Number of the newest version, including discarded ones; 0 before the first. */
  newestNumber: Type.Number(),
  resourceCount: Type.Number(),
  outputCount: Type.Number(),
  /** Creation time of the newest state version that was current, or of the workspace. */
  latestChangeAtMs: Type.Number(),
});
export type WorkspaceState = Shaped<typeof workspaceStateShape>;

/** The summary before the first version. @param createdAtMs of the workspace */
export const initialState = (createdAtMs: number): WorkspaceState => ({
  currentId: null,
  newestId: null,
  pendingId: null,
  newestNumber: 0,
  resourceCount: 0,
  outputCount: 0,
  latestChangeAtMs: createdAtMs,
});

/** @param stored the summary in a record of its own, if there is one */
export const stateOf = (
  {
    state,
    createdAtMs,
  }: { readonly state?: WorkspaceState | undefined; readonly createdAtMs: number },
  stored: WorkspaceState | undefined,
): WorkspaceState => state ?? stored ?? initialState(createdAtMs);
