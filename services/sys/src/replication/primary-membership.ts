/**
 * The members of a set, for services that publish its log and answer its secondaries. Without this
 * check, a service that does not know yet that its cluster stepped back would read the set of the
 * next primary, which is replicated like all other records, and mistake that primary's log for its
 * own.
 */
import type { Membership, StoredMembership } from '@keelson/replication';
import type { Reads } from '@keelson/storage';

/** @param requirePrimary throws unless this cluster is the primary of the set, according to the same reads */
export const whilePrimary = (
  membership: StoredMembership,
  requirePrimary: (reads?: Reads) => Promise<void>,
): Membership => {
  const checked =
    <Given extends readonly unknown[], Result>(read: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      await requirePrimary();
      return read(...given);
    };
  return {
    identity: checked(() => membership.identity()),
    currentEpoch: checked(() => membership.currentEpoch()),
    findEpoch: checked((epoch: number) => membership.findEpoch(epoch)),
    findSecondary: checked((id: string) => membership.findSecondary(id)),
    unfilteredSecondaries: checked(() => membership.unfilteredSecondaries()),
    renewLog: () => membership.renewLog(requirePrimary),
    findFilter: checked((id: string, groups?: readonly string[]) =>
      membership.findFilter(id, groups),
    ),
    filteredSecondaries: checked(() => membership.filteredSecondaries()),
  };
};
