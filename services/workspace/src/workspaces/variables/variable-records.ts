import { collection } from '@keelson/storage';
import { variableShape } from './domain/variable.ts';

/** Keyed by `var-…`; the workspace lists the ids of its variables. */
export const variableRecords = collection('variables', {
  scope: 'shared',
  version: 1,
  shape: variableShape,
  owner: { kind: 'workspace', by: 'workspaceId' },
  index: ['workspaceId'],
});
