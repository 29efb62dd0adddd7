import type { StateContext } from '../../state/seams/state-context.ts';

/** Context of the operations of this module. */
export interface RunsContext extends StateContext {
  /** Order of the next run among all runs: greater with every call. */
  readonly nextRunOrder: () => number;
  /** Time between two health assessments of a workspace. */
  readonly assessmentIntervalMs: number;
}
