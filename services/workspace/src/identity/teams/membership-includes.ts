import type { Resource } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import { requireTeam } from '../access/team-access.ts';
import { toUserResource } from '../users/user-document.ts';
import type { MembershipView } from './membership-list-operations.ts';
import { toTeamResource } from './team-document.ts';

export const MEMBERSHIP_INCLUDES: ReadonlySet<string> = new Set(['teams', 'user']);

/**
 * The resources named in `include`, without duplicates. Whoever sees a membership sees its teams.
 */
export const loadMembershipIncluded = async (
  reads: Reads,
  principal: Principal,
  include: ReadonlySet<string>,
  views: readonly MembershipView[],
): Promise<readonly Resource[]> => {
  const found = new Map<string, Resource>();
  for (const { membership, user } of views) {
    if (include.has('user')) found.set(user.id, toUserResource(user, false));
    if (!include.has('teams')) continue;
    for (const teamId of membership.teamIds) {
      if (found.has(teamId)) continue;
      const access = await requireTeam(reads, principal, teamId);
      found.set(teamId, await toTeamResource(reads, access));
    }
  }
  return [...found.values()];
};
