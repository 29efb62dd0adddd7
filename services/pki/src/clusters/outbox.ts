/**
 * Records of this cluster for the replicated scope, which only the primary writes. A record is committed
 * together with the change it announces, at its path in that scope, and stays until it has been copied there.
 */
import { type MountScope } from '@keelson/engine';
import type { RecordCollection, Transaction } from '@keelson/storage';
import { mountBytes } from '../mounts/mount-records.ts';

export const SHARED = 'shared/';

/** Records of other kinds, encoded as at their later places. */
export const { prefixOf: outboxPrefix } = mountBytes('outbox', 'local');

/** Puts a record for all clusters into the outbox. Records of a local mount are already in their only cluster. */
export const putForAll = <T>(
  tx: Transaction,
  mount: MountScope,
  records: RecordCollection<T>,
  key: string,
  value: T,
): void => {
  if (mount.local) return records.write(tx, key, value);
  const path = records.path(key);
  tx.writeAs(outboxPrefix(mount) + path.slice(SHARED.length), records.codec, value);
};
