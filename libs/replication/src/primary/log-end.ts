/**
 * Marks the end of a demoted primary's log. A secondary that has applied it holds everything, even if the primary
 * writes local records later.
 */
import { type Store, singleRecords } from '@keelson/storage';
import { Type } from 'typebox';
import type { ReplicationKind } from '../domain/crossing.ts';

const ends = singleRecords('replication/log-end', {
  scopes: ['shared', 'local'],
  version: 1,
  shape: Type.Object({ logId: Type.String() }),
});
/** In the scope that is replicated with the kind and that no other primary writes. */
const endOf = (kind: ReplicationKind) => ends.at(kind === 'performance' ? 'shared' : 'local');

/** Writes the last record of the log; a secondary that has it is complete. */
export const writeLogEnd = (store: Store, kind: ReplicationKind, logId: string): Promise<void> =>
  store.transact((tx) => endOf(kind).write(tx, { logId }));

/** Id of the log that ended last; undefined when none did. */
export const findLogEnd = async (
  store: Store,
  kind: ReplicationKind,
): Promise<string | undefined> => (await endOf(kind).find(store))?.logId;
