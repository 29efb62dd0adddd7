/** Summary of a workspace's states, maintained by the state module. */
export interface WorkspaceState {
  readonly currentId: string | null;
  /** The newest version with content: current, or intermediate until the lock is released. */
  readonly newestId: string | null;
  /** The pending version, if any. */
  readonly pendingId: string | null;
  /** Number of the newest version, including discarded ones; 0 before the first. */
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
