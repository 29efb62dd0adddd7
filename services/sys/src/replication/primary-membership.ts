/**
 * The members of a set for those who publish its log and answer its secondaries. A service that has not
 * heard yet that its cluster stepped back would otherwise find the set of the next primary here, whose
 * records are copied like all others, and take that one's log for its own.
 */
import type { Membership, StoredMembership } from '@keelson/replication';
import type { Reads } from '@keelson/storage';

/** @param requirePrimary throws where this cluster is not the primary of the set, as of these reads */
export const whilePrimary = (
  membership: StoredMembership,
  requirePrimary: (reads?: Reads) => Promise<void>,
): Membership => {
  const asked =
    <Given extends readonly unknown[], Told>(ask: (...given: Given) => Promise<Told>) =>
    async (...given: Given): Promise<Told> => {
      await requirePrimary();
      return ask(...given);
    };
  return {
    identity: asked(() => membership.identity()),
    currentEpoch: asked(() => membership.currentEpoch()),
    findEpoch: asked((epoch: number) => membership.findEpoch(epoch)),
    findSecondary: asked((id: string) => membership.findSecondary(id)),
    unfilteredSecondaries: asked(() => membership.unfilteredSecondaries()),
    renewLog: () => membership.renewLog(requirePrimary),
    findFilter: asked((id: string, groups?: readonly string[]) =>
      membership.findFilter(id, groups),
    ),
    filteredSecondaries: asked(() => membership.filteredSecondaries()),
  };
};
