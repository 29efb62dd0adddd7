import { collection } from '@keelson/storage';
import { Type } from 'typebox';

/**
 * The workspaces that may read a workspace's state, in the order in which they were added; keyed by its id.
 */
export const consumerLists = collection('remote-state-consumers', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ workspaceIds: Type.Array(Type.String()) }),
  owner: { kind: 'workspace', by: '*' },
});
