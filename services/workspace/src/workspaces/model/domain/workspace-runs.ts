import type { RunStatus } from '../../../base/run-status.ts';

/** Outcome of a finished run. */
export interface RunOutcome {
  readonly hasFailed: boolean;
  /** null: the run did not finish this phase. */
  readonly planMs: number | null;
  readonly applyMs: number | null;
}

/** Summary of a workspace's runs: the current one, and the outcomes of the last finished ones. */
export interface WorkspaceRuns {
  readonly current: {
    readonly id: string;
    readonly status: RunStatus;
    readonly createdAtMs: number;
    readonly configurationVersionId: string;
  } | null;
  /** Number of the newest run, 0 before the first. */
  readonly newestNumber: number;
  /** Order of the newest run among the runs of all workspaces; absent before the first. */
  readonly newestOrder?: number;
  /** Applied and errored runs, oldest first, at most 30. */
  readonly finished: readonly RunOutcome[];
}

export const NO_RUNS: WorkspaceRuns = { current: null, newestNumber: 0, finished: [] };
