import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { runStatusShape } from '../../../base/run-status.ts';

/** Outcome of a finished run. */
export const runOutcomeShape = Type.Object({
  hasFailed: Type.Boolean(),
  /** Null if the run did not finish this phase. */
  planMs: nullable(Type.Number()),
  applyMs: nullable(Type.Number()),
});
export type RunOutcome = Shaped<typeof runOutcomeShape>;

/** Summary of a workspace's runs: the current one, and the outcomes of the last finished ones. */
export const workspaceRunsShape = Type.Object({
  current: nullable(
    Type.Object({
      id: Type.String(),
      status: runStatusShape,
      createdAtMs: Type.Number(),
      configurationVersionId: Type.String(),
    }),
  ),
  /** Number of the newest run, 0 before the first. */
  newestNumber: Type.Number(),
  /** Order of the newest run among the runs of all workspaces; absent before the first. */
  newestOrder: Type.Optional(Type.Number()),
  /** Applied and errored runs, oldest first, at most 30. */
  finished: Type.Array(runOutcomeShape),
});
export type WorkspaceRuns = Shaped<typeof workspaceRunsShape>;

export const NO_RUNS: WorkspaceRuns = { current: null, newestNumber: 0, finished: [] };

/** @param stored the summary in a record of its own, if there is one */
export const runsOf = (
  { runs }: { readonly runs?: WorkspaceRuns | undefined },
  stored: WorkspaceRuns | undefined,
): WorkspaceRuns => runs ?? stored ?? NO_RUNS;
