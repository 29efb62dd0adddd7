import { isDeepStrictEqual } from 'node:util';
import { UNLOCKED, type WorkspaceLocking } from './lock.ts';
import { NO_VARIABLES, type WorkspaceConfiguration, type WorkspaceVariables } from './workspace.ts';
import { NO_RUNS } from './workspace-runs.ts';
import { initialState, type WorkspaceState } from './workspace-state.ts';

type Stored = Readonly<Record<string, unknown>>;

const initialStateOf = ({ createdAtMs }: Stored): WorkspaceState =>
  initialState(createdAtMs as number);

export const workspaceUpgrades = {
  /** The summary of the states is one value, absent before the first or in a record of its own. */
  2: {
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
  },
  /** The summary of the runs is absent before the first, or in a record of its own, as in some records of version 2. */
  3: {
    up: ({ runs, ...workspace }: Stored): Stored =>
      runs === undefined || isDeepStrictEqual(runs, NO_RUNS) ? workspace : { ...workspace, runs },
    down: ({ runs = NO_RUNS, ...workspace }: Stored): Stored => ({ ...workspace, runs }),
  },
  /**
   * The lock and the run that lost it are one value, absent if there is neither, and so are the current
   * configuration and the ids of the variables. They and the outcome of an auto-destroy may be in records of their own.
   */
  4: {
    up: ({
      lock,
      unlockedRunId,
      autoDestroyed,
      currentConfigurationVersionId: currentId,
      hasReadme = false,
      variableIds,
      ...workspace
    }: Stored): Stored => ({
      ...workspace,
      ...(lock === null && unlockedRunId === null ? {} : { locking: { lock, unlockedRunId } }),
      ...(autoDestroyed === null ? {} : { autoDestroyed }),
      ...(currentId === null ? {} : { configuration: { currentId, hasReadme } }),
      ...((variableIds as readonly string[]).length === 0
        ? {}
        : { variables: { ids: variableIds } }),
    }),
    down: ({
      locking = UNLOCKED,
      autoDestroyed = null,
      configuration,
      variables = NO_VARIABLES,
      ...workspace
    }: Stored): Stored => {
      const { currentId = null, ...readme } =
        (configuration as Partial<WorkspaceConfiguration> | undefined) ?? {};
      return {
        ...workspace,
        ...(locking as WorkspaceLocking),
        autoDestroyed,
        currentConfigurationVersionId: currentId,
        ...readme,
        variableIds: (variables as WorkspaceVariables).ids,
      };
    },
  },
};
