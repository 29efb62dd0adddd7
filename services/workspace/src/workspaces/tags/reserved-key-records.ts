import type { Reads } from '@keelson/storage';
import { keyedRecords } from '../../base/keyed-records.ts';
import type { ReservedKey } from './domain/reserved-key.ts';

/** Organization id, `rtk-…`. */
export const reservedKeys = keyedRecords<ReservedKey>('shared/reserved-tag-keys/');

/** `rtk-…` -> organization id. */
export const reservedKeyPlaces = keyedRecords<{ readonly organizationId: string }>(
  'shared/reserved-tag-key-places/',
);

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
