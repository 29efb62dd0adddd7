import { collection } from '@keelson/storage';
import { variableShape } from './domain/variable.ts';

/** Keyed by `var-…`; `workspace-variables` has their order. */
export const variableRecords = collection('variables', {
  scope: 'shared',
  version: 1,
  shape: variableShape,
  owner: { kind: 'workspace', by: 'workspaceId' },
  index: ['workspaceId'],
});
