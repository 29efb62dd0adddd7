import { isDeepStrictEqual } from 'node:util';
import { initialState, type WorkspaceState } from './workspace-state.ts';

type Stored = Readonly<Record<string, unknown>>;

const initialStateOf = ({ createdAtMs }: Stored): WorkspaceState =>
  initialState(createdAtMs as number);

/** Version 2: the summary of the states is one value, absent before the first or in a record of its own. */
export const divideState = {
  up: ({ state: counted, latestChangeAtMs, ...workspace }: Stored): Stored => {
    const state = { ...(counted as object), latestChangeAtMs };
    return isDeepStrictEqual(state, initialStateOf(workspace))
      ? workspace
      : { ...workspace, state };
  },
  down: ({ state, ...workspace }: Stored): Stored => {
    const { latestChangeAtMs, ...counted } =
      (state as WorkspaceState | undefined) ?? initialStateOf(workspace);
    return { ...workspace, state: counted, latestChangeAtMs };
  },
};
