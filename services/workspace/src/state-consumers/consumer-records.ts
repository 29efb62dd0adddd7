import { keyedRecords } from '../records/keyed-records.ts';

/** The workspaces that may read a workspace's state, in order of adding; keyed by its id. */
export const consumerLists = keyedRecords<{ readonly workspaceIds: readonly string[] }>(
  'shared/remote-state-consumers/',
);
