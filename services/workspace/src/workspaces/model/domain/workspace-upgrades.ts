import { isDeepStrictEqual } from 'node:util';
import { NO_RUNS } from './workspace-runs.ts';
import { initialState, type WorkspaceState } from './workspace-state.ts';

type Stored = Readonly<Record<string, unknown>>;

/**
 * Version 2: the summaries of states and of runs are one value each, absent before the first or in a record of its
 * own.
 */
export const divideWorkspace = {
  up: ({ state: counted, latestChangeAtMs, runs, ...workspace }: Stored): Stored => {
    const state = { ...(counted as object), latestChangeAtMs };
    const hasState = !isDeepStrictEqual(state, initialState(workspace['createdAtMs'] as number));
    return {
      ...workspace,
      ...(hasState && { state }),
      ...(!isDeepStrictEqual(runs, NO_RUNS) && { runs }),
    };
  },
  down: ({ state, runs = NO_RUNS, ...workspace }: Stored): Stored => {
    const { latestChangeAtMs, ...counted } =
      (state as WorkspaceState | undefined) ?? initialState(workspace['createdAtMs'] as number);
    return { ...workspace, state: counted, latestChangeAtMs, runs };
  },
};
