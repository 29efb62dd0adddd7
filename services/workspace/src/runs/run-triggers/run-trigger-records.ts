import { collection, type Reads, readableOnly } from '@keelson/storage';
import { byCreation } from '../../base/creation-order.ts';
import { type RunTrigger, runTriggerShape } from './domain/run-trigger.ts';

/** Keyed by `rt-…`. */
export const runTriggerRecords = collection('run-triggers', {
  scope: 'shared',
  version: 1,
  shape: runTriggerShape,
  owner: [
    { kind: 'workspace', by: 'workspaceId' },
    { kind: 'workspace', by: 'sourceId' },
  ],
  index: ['workspaceId', 'sourceId'],
});

/** `inbound` triggers queue runs in the workspace, `outbound` ones in other workspaces after it applies. */
export type RunTriggerDirection = 'inbound' | 'outbound';

/** Triggers of a workspace that can be read, in order of creation. */
export const loadRunTriggers = async (
  reads: Reads,
  workspaceId: string,
  direction: RunTriggerDirection,
): Promise<readonly RunTrigger[]> => {
  const { workspaceId: inbound, sourceId: outbound } = runTriggerRecords.by;
  const index = direction === 'inbound' ? inbound : outbound;
  return (await index.records(readableOnly(reads), workspaceId)).toSorted(byCreation);
};
