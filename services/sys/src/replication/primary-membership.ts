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
