import { collection, type Reads } from '@keelson/storage';
import { type ReservedKey, reservedKeyShape } from './domain/reserved-key.ts';

/** Keyed by `rtk-…`. */
export const reservedKeys = collection('reserved-tag-keys', {
  scope: 'shared',
  version: 1,
  shape: reservedKeyShape,
  owner: { kind: 'organization', by: 'organizationId' },
  index: ['organizationId'],
});

/** Keys that an organization has reserved, by name. */
export const loadReservedKeys = async (
  reads: Reads,
  organizationId: string,
): Promise<readonly ReservedKey[]> => {
  const found = await reservedKeys.by.organizationId.records(reads, organizationId);
  return found.toSorted((a, b) => (a.key < b.key ? -1 : 1));
};
