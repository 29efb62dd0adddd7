/**
 * The last record of a log whose primary steps back: a secondary that has it is complete, whatever
 * local records the primary writes afterwards.
 */
import { jsonRecords, type RecordCollection, type Store } from '@keelson/storage';
import type { ReplicationKind } from '../domain/crossing.ts';

interface LogEnd {
  readonly logId: string;
}

const KEY = 'log-end';
/** Prefixes that are replicated with each kind and that no other primary writes. */
const ends: Readonly<Record<ReplicationKind, RecordCollection<LogEnd>>> = {
  performance: jsonRecords('shared/replication/'),
  dr: jsonRecords('local/replication/'),
};

/** Writes the last record of the log; a secondary that has it is complete. */
export const writeLogEnd = (store: Store, kind: ReplicationKind, logId: string): Promise<void> =>
  store.transact((tx) => ends[kind].write(tx, KEY, { logId }));

/** Id of the log that ended last; undefined when none did. */
export const findLogEnd = async (
  store: Store,
  kind: ReplicationKind,
): Promise<string | undefined> => (await ends[kind].find(store, KEY))?.logId;
