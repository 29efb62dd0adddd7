/** Reads what an outbox holds, and copies it to the replicated scope. */
import { type MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Reads, RecordCollection, RecordDecoder, Store, Transaction } from '@keelson/storage';
import { pendingRecords } from '../certificates/revocation-records.ts';
import { clusterBanRecords, liftedBanRecords } from '../keys/compromised-keys.ts';
import {
  clusterRevocationRecords,
  confirmationRecords,
  requestRecords,
} from './cluster-records.ts';
import { outboxPrefix, SHARED } from './outbox.ts';

/** Records of some 300 bytes; a message between clusters carries 900 KiB. */
const PAGE_SIZE = 500;

/** A record of an outbox. */
export interface Announcement {
  /** Its path below `shared/`. */
  readonly place: string;
  readonly value: Uint8Array;
}

/** The records that a cluster may announce; those of a local mount are never announced. */
const kindsOf = ({ uuid }: MountScope): readonly RecordCollection<unknown>[] => {
  const mount = { uuid, local: false };
  return [
    clusterRevocationRecords(mount),
    pendingRecords(mount, 'all'),
    requestRecords(mount),
    confirmationRecords(mount),
    clusterBanRecords(mount),
    liftedBanRecords(mount),
  ] as readonly RecordCollection<unknown>[];
};

/** Checks each value as one of its kind, and leaves it as it is stored. */
const announcementsOf = (mount: MountScope): RecordDecoder<Announcement> => {
  const kinds = kindsOf(mount);
  const { length } = outboxPrefix(mount);
  return {
    decode: (path, value) => {
      const place = path.slice(length);
      const kind = kinds.find(({ prefix }) => (SHARED + place).startsWith(prefix));
      if (kind === undefined)
        throw new KeelsonError('storage.damaged_record', {
          path,
          fault: 'it is of a kind that is not announced',
        });
      kind.codec.decode(path, value);
      return { place, value };
    },
  };
};

/**
 * The first records of the outbox, by path. Damaged ones are left out, so that they hold up no others; they stay
 * where they are, and the store reports them.
 */
export const readOutbox = (
  reads: Reads,
  mount: MountScope,
): Promise<readonly (readonly [path: string, Announcement])[]> =>
  reads.scanAs(outboxPrefix(mount), announcementsOf(mount), {
    limit: PAGE_SIZE,
    onDamaged: () => undefined,
  });

/**
 * Writes a record of an outbox to its path; on the primary cluster only.
 * @throws KeelsonError `replication.malformed` for a place that no outbox may name
 */
export const writeForAll = (
  tx: Transaction,
  mount: MountScope,
  { place, value }: Announcement,
): void => {
  if (!kindsOf(mount).some(({ prefix }) => (SHARED + place).startsWith(prefix)))
    throw new KeelsonError('replication.malformed', { reason: 'a record of another kind' });
  tx.write(SHARED + place, value);
};

/** Copies all records to the replicated scope; on the primary cluster only. Each page is one commit. */
export const applyOutbox = async (store: Store, mount: MountScope): Promise<void> => {
  let carried: number;
  do {
    carried = await store.transact(async (tx) => {
      const records = await readOutbox(tx, mount);
      for (const [path, announcement] of records) {
        writeForAll(tx, mount, announcement);
        tx.delete(path);
      }
      return records.length;
    });
  } while (carried === PAGE_SIZE);
};
