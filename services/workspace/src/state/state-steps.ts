/** Steps of this module when workspaces change. */
import type { WorkspaceSteps } from '../workspaces/seams/workspace-steps.ts';
import { releaseArchivesOf } from './configuration-versions/configuration-version-records.ts';
import { withPromotedState } from './state-versions/state-version-operations.ts';
import { removedWorkspaces } from './state-versions/state-version-records.ts';

export const STATE_WORKSPACE_STEPS: WorkspaceSteps = {
  // A workspace may have many states, so that they are removed in the background.
  onWorkspaceRemoved: async (tx, { id }) => {
    removedWorkspaces.write(tx, [id], {});
    await releaseArchivesOf(tx, id);
  },
  onUnlock: withPromotedState,
};
