import { collection, type Reads, readableOnly, type Transaction } from '@keelson/storage';
import { Type } from 'typebox';
import { byCreation } from '../../base/creation-order.ts';
import { type RunTrigger, runTriggerShape } from './domain/run-trigger.ts';

const placeShape = Type.Object({ id: Type.String() });

/** Keyed by `rt-…`. Written only by `storeRunTrigger`, which maintains the indexes below. */
export const runTriggerRecords = collection('run-triggers', {
  scope: 'shared',
  version: 1,
  shape: runTriggerShape,
});

/** Workspace id, source id -> trigger id. */
export const inboundRunTriggers = collection('inbound-run-triggers', {
  scope: 'shared',
  version: 1,
  shape: placeShape,
});

/** Source id, workspace id -> trigger id. */
export const outboundRunTriggers = collection('outbound-run-triggers', {
  scope: 'shared',
  version: 1,
  shape: placeShape,
});

export const storeRunTrigger = (tx: Transaction, trigger: RunTrigger): void => {
  const { id, workspaceId, sourceId } = trigger;
  runTriggerRecords.write(tx, [id], trigger);
  inboundRunTriggers.write(tx, [workspaceId, sourceId], { id });
  outboundRunTriggers.write(tx, [sourceId, workspaceId], { id });
};

export const removeRunTrigger = (
  tx: Transaction,
  { id, workspaceId, sourceId }: RunTrigger,
): void => {
  runTriggerRecords.delete(tx, id);
  inboundRunTriggers.delete(tx, workspaceId, sourceId);
  outboundRunTriggers.delete(tx, sourceId, workspaceId);
};

/** `inbound` triggers queue runs in the workspace, `outbound` ones in other workspaces after it applies. */
export type RunTriggerDirection = 'inbound' | 'outbound';

/** Triggers of a workspace that can be read, in order of creation. */
export const loadRunTriggers = async (
  reads: Reads,
  workspaceId: string,
  direction: RunTriggerDirection,
): Promise<readonly RunTrigger[]> => {
  const places = direction === 'inbound' ? inboundRunTriggers : outboundRunTriggers;
  const others = await places.keys(reads, [workspaceId]);
  const found = await Promise.all(
    others.map(async (other) => {
      const place = await places.find(readableOnly(reads), workspaceId, other);
      return place && runTriggerRecords.find(readableOnly(reads), place.id);
    }),
  );
  return found.filter((trigger) => trigger !== undefined).toSorted(byCreation);
};

/** Removes the run triggers of a deleted workspace, in both directions, also those that cannot be read. */
export const removeRunTriggersOf = async (tx: Transaction, removedId: string): Promise<void> => {
  const reads = readableOnly(tx);
  const remove = async (workspaceId: string, sourceId: string): Promise<void> => {
    const place =
      (await inboundRunTriggers.find(reads, workspaceId, sourceId)) ??
      (await outboundRunTriggers.find(reads, sourceId, workspaceId));
    inboundRunTriggers.delete(tx, workspaceId, sourceId);
    outboundRunTriggers.delete(tx, sourceId, workspaceId);
    if (place !== undefined) runTriggerRecords.delete(tx, place.id);
  };
  for (const id of await inboundRunTriggers.keys(tx, [removedId])) await remove(removedId, id);
  for (const id of await outboundRunTriggers.keys(tx, [removedId])) await remove(id, removedId);
};
