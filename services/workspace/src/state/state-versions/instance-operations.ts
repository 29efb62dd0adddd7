import { type Reads, readableOnly, type Transaction } from '@keelson/storage';
import { decideModifiers, digestAddress, type InstanceDigest } from './domain/instance-changes.ts';
import { stateInstances } from './state-version-records.ts';

/** Compares the instances of a version with those of the version it replaces. */
export const recordInstances = async (
  tx: Transaction,
  beforeId: string | null,
  found: readonly InstanceDigest[],
  id: string,
): Promise<void> => {
  const before = (await stateInstances.find(readableOnly(tx), beforeId ?? ''))?.instances ?? [];
  const instances = decideModifiers(before, found, id);
  if (instances.length > 0) stateInstances.write(tx, [id], { instances });
};

/** The other version has the same content. */
export const restoreInstances = async (
  tx: Transaction,
  beforeId: string | null,
  targetId: string,
  id: string,
): Promise<void> => {
  const target = (await stateInstances.find(tx, targetId))?.instances ?? [];
  const found = target.map(([place, content]) => ({ place, content }));
  await recordInstances(tx, beforeId, found, id);
};

/** Finds the version that last changed an instance, by the instance's address; undefined when unknown. */
export const loadModifiers = async (
  reads: Reads,
  stateVersionId: string,
): Promise<(address: string) => string | undefined> => {
  const { instances } = (await stateInstances.find(reads, stateVersionId)) ?? { instances: [] };
  const modifiers = new Map(instances.map(([place, , id]) => [place, id]));
  return (address) => modifiers.get(digestAddress(address));
};
