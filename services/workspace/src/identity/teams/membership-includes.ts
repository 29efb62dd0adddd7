import type { Includes, Resource } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import { IncludedResources } from '../../base/included-resources.ts';
import { requireTeam } from '../access/team-access.ts';
import type { User } from '../model/user-records.ts';
import { toUserResource } from '../users/user-document.ts';
import type { MembershipView } from './membership-list-operations.ts';
import { toTeamResource } from './team-document.ts';

export const MEMBERSHIP_INCLUDES: Includes = { teams: ['teams'], user: ['users'] };

/** Whoever sees a membership sees the address in it; clients look for it in the included user. */
const toMemberResource = (user: User) => {
  const resource = toUserResource(user);
  return { ...resource, attributes: { ...resource.attributes, email: user.email } };
};

/**
 * The resources named in `include`, without duplicates. Whoever sees a membership sees its teams.
 */
export const loadMembershipIncluded = async (
  reads: Reads,
  principal: Principal,
  include: ReadonlySet<string>,
  views: readonly MembershipView[],
): Promise<readonly Resource[]> => {
  const included = new IncludedResources();
  const loadTeam = async (teamId: string): Promise<Resource> =>
    toTeamResource(reads, await requireTeam(reads, principal, teamId));
  const teamIds = new Set<string>();
  for (const { membership, user } of views) {
    if (include.has('user')) await included.add(Promise.resolve(toMemberResource(user)));
    for (const teamId of include.has('teams') ? membership.teamIds : []) teamIds.add(teamId);
  }
  for (const teamId of teamIds) await included.add(loadTeam(teamId));
  return included.all;
};
