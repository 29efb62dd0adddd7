/**
 * Logs of the time before a promotion: the one that this store published, and the one that it followed. Both are
 * kept when the role changes, so that a former primary can tell which of its entries its successor never had. A
 * record that cannot be read is written again at the next comparison or by the publisher.
 */
import {
  collection,
  type Reads,
  type Store,
  type Transaction,
  unlessDamaged,
} from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import type { ReplicationKind } from '../domain/crossing.ts';
import { unfilteredLogOf } from '../wire/names.ts';

/** An entry of a primary's log. */
export interface LogPosition {
  readonly logId: string;
  readonly sequence: number;
}

const followedShape = Type.Object({
  logId: Type.String(),
  /** Public key of the secondary. */
  link: Type.String(),
  /** Logs that were followed before it, from the newest to the oldest. */
  former: Type.Optional(Type.Array(Type.String())),
  /** Groups withheld at the comparison; absent if there were none or too many to list. */
  withheldGroups: Type.Optional(Type.Array(Type.String())),
  /** The withheld groups were too many to list. */
  isTruncated: Type.Optional(Type.Literal(true)),
});
export type FollowedRecord = Shaped<typeof followedShape>;

/** By service. */
const followedLogs = collection('replication/followed', {
  scope: 'node',
  version: 1,
  shape: followedShape,
});
/** By kind. */
const ownLogs = collection('replication/own-log', {
  scope: 'node',
  version: 1,
  shape: Type.Object({ logId: Type.String() }),
});

export const findFollowed = (reads: Reads, service: string): Promise<FollowedRecord | undefined> =>
  unlessDamaged(followedLogs.find(reads, service));

export const writeFollowed = (tx: Transaction, service: string, record: FollowedRecord): void =>
  followedLogs.write(tx, service, record);

/** The log that the store followed last, whatever its link was; undefined if there was none. */
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
): Promise<string | undefined> => (await unlessDamaged(ownLogs.find(reads, kind)))?.logId;

export const recordOwnLog = async (
  store: Store,
  kind: ReplicationKind,
  logId: string,
): Promise<void> => {
  if ((await findOwnLog(store, kind)) !== logId)
    await store.transact((tx) => ownLogs.write(tx, kind, { logId }));
};
