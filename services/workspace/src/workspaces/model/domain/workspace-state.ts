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
});
export type WorkspaceState = Shaped<typeof workspaceStateShape>;

export const NO_STATE: WorkspaceState = {
  currentId: null,
  newestId: null,
  pendingId: null,
  newestNumber: 0,
  resourceCount: 0,
  outputCount: 0,
};
