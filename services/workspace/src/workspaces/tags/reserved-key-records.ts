import { collection, type Reads } from '@keelson/storage';
import { Type } from 'typebox';
import { type ReservedKey, reservedKeyShape } from './domain/reserved-key.ts';

/** Organization id, `rtk-…`. */
export const reservedKeys = collection('reserved-tag-keys', {
  scope: 'shared',
  version: 1,
  shape: reservedKeyShape,
});

/** `rtk-…` -> organization id. */
export const reservedKeyPlaces = collection('reserved-tag-key-places', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ organizationId: Type.String() }),
});

/** Keys that an organization has reserved, by name. */
export const loadReservedKeys = async (
  reads: Reads,
  organizationId: string,
): Promise<readonly ReservedKey[]> => {
  const ids = await reservedKeys.keys(reads, [organizationId]);
  const found = await Promise.all(ids.map((id) => reservedKeys.find(reads, organizationId, id)));
  return found
    .filter((reserved) => reserved !== undefined)
    .sort((a, b) => (a.key < b.key ? -1 : 1));
};
