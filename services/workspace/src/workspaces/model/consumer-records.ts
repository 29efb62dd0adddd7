import { keyedRecords } from '../../base/keyed-records.ts';

/**
 * The workspaces that may read a workspace's state, in the order in which they were added; keyed by its id.
 */
export const consumerLists = keyedRecords<{ readonly workspaceIds: readonly string[] }>(
  'shared/remote-state-consumers/',
);
