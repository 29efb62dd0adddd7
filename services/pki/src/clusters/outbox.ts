/**
 * Records of this cluster for the replicated scope, which only the primary writes. A record is committed
 * together with the change it announces, at its path in that scope, and stays until it has been copied there.
 */
import { KeelsonError } from '@keelson/errors';
import type { RecordCollection, Store, Transaction } from '@keelson/storage';
import { bulkPrefix, type MountScope } from '../mounts/mount-records.ts';

const SHARED = 'shared/';
const PAGE_SIZE = 500;

export const outboxPrefix = (mount: MountScope): string => bulkPrefix('outbox', mount);

/** Puts a record for all clusters into the outbox. Those of a local mount are in its one cluster. */
export const putForAll = <T>(
  tx: Transaction,
  mount: MountScope,
  records: RecordCollection<T>,
  key: string,
  value: T,
): void => {
  if (mount.local) return records.write(tx, key, value);
  const place = records.path(key).slice(SHARED.length);
  tx.write(outboxPrefix(mount) + place, Buffer.from(JSON.stringify(value)));
};

/** Paths of records that a cluster may announce, below `shared/`. */
const kindsOf = ({ uuid }: MountScope): readonly string[] => [
  `cluster-revocations/${uuid}/`,
  `mounts/${uuid}/unified-crl-pending/`,
  `mounts/${uuid}/revocation-requests/`,
  `mounts/${uuid}/revocation-confirmations/`,
  `mounts/${uuid}/banned-keys/`,
  `mounts/${uuid}/lifted-bans/`,
];

/**
 * Writes a record of an outbox to its path; on the primary cluster only.
 * @throws KeelsonError `replication.malformed` for a place that no outbox may name
 */
export const writeForAll = (
  tx: Transaction,
  mount: MountScope,
  place: string,
  value: Uint8Array,
): void => {
  if (!kindsOf(mount).some((kind) => place.startsWith(kind)))
    throw new KeelsonError('replication.malformed', { reason: 'a record of another kind' });
  tx.write(SHARED + place, value);
};

/** Copies all records to the replicated scope; on the primary cluster only. Each page is one commit. */
export const carryOutbox = async (store: Store, mount: MountScope): Promise<void> => {
  const prefix = outboxPrefix(mount);
  let carried: number;
  do {
    carried = await store.transact(async (tx) => {
      const records = await tx.scan(prefix, { limit: PAGE_SIZE });
      for (const { path, value } of records) {
        writeForAll(tx, mount, path.slice(prefix.length), value);
        tx.delete(path);
      }
      return records.length;
    });
  } while (carried === PAGE_SIZE);
};
