/** Removes configurations when their workspace or project is deleted. */
import type { WorkspaceSteps } from '../seams/workspace-steps.ts';
import { removeNotificationsOf } from './notification-records.ts';

export const NOTIFICATION_STEPS: WorkspaceSteps = {
  onWorkspaceRemoved: (tx, { id }) => removeNotificationsOf(tx, id),
  onProjectRemoved: (tx, { id }) => removeNotificationsOf(tx, id),
};
