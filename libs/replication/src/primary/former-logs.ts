/**
 * Logs of the time before a promotion: the one that this store published, and the one that it followed. Both are
 * kept when the role changes, so that a former primary can tell which of its entries its successor never had.
 */
import { jsonRecords, type Reads, type Store, type Transaction } from '@keelson/storage';
import type { ReplicationKind } from '../domain/crossing.ts';
import { unfilteredLogOf } from '../wire/names.ts';

/** An entry of a primary's log. */
export interface LogPosition {
  readonly logId: string;
  readonly sequence: number;
}

export interface FollowedRecord {
  readonly logId: string;
  /** Public key of the secondary. */
  readonly link: string;
  /** Logs that were followed before it, the newest first. */
  readonly former?: readonly string[];
  /** Groups withheld at the comparison; absent if there were none or too many to list. */
  readonly withheldGroups?: readonly string[];
  /** The withheld groups were too many to list. */
  readonly isTruncated?: true;
}

/** By service. */
const followedLogs = jsonRecords<FollowedRecord>('node/replication/followed/');
/** By kind. */
const ownLogs = jsonRecords<{ readonly logId: string }>('node/replication/own-log/');

export const findFollowed = (reads: Reads, service: string): Promise<FollowedRecord | undefined> =>
  followedLogs.find(reads, service);

export const writeFollowed = (tx: Transaction, service: string, record: FollowedRecord): void =>
  followedLogs.write(tx, service, record);

/** The log that the store followed last, whatever its link was; undefined: none. */
export const findFormerLog = async (
  store: Store,
  service: string,
): Promise<LogPosition | undefined> => {
  const found = await findFollowed(store, service);
  if (found === undefined) return undefined;
  const sequence = await store.appliedSequence(found.logId);
  return { logId: unfilteredLogOf(found.logId), sequence };
};

/** Id of the log that the store publishes, or published last. */
export const findOwnLog = async (
  reads: Reads,
  kind: ReplicationKind,
): Promise<string | undefined> => (await ownLogs.find(reads, kind))?.logId;

export const noteOwnLog = async (
  store: Store,
  kind: ReplicationKind,
  logId: string,
): Promise<void> => {
  if ((await findOwnLog(store, kind)) !== logId)
    await store.transact((tx) => ownLogs.write(tx, kind, { logId }));
};
