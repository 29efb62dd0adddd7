import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import { OWNERS_TEAM_NAME, type Team } from '../model/domain/team.ts';
import { teamRecords } from '../model/team-records.ts';
import type { CallerAccess } from './domain/caller-access.ts';
import {
  type OrganizationAccessResult,
  requireOrganizationOf,
} from './organization-access-operations.ts';

export interface TeamAccessResult extends OrganizationAccessResult {
  readonly team: Team;
  readonly canUpdate: boolean;
  readonly canManageMembers: boolean;
  readonly canManageTokens: boolean;
}

const isVisible = (team: Team, { isOwner, access, teamIds }: CallerAccess): boolean =>
  isOwner ||
  access.manageMembership ||
  access.accessSecretTeams ||
  team.visibility === 'organization' ||
  teamIds.includes(team.id);

/** The caller's rights on a team; undefined when the caller may not see the team. */
export const decideTeamAccess = (
  owner: OrganizationAccessResult,
  team: Team,
): TeamAccessResult | undefined => {
  const { caller } = owner;
  if (!isVisible(team, caller)) return undefined;
  const { isOwner, access, teamIds } = caller;
  // A caller who could change the owners team could make itself an owner.
  const isOwnersTeam = team.name === OWNERS_TEAM_NAME;
  const isMember = teamIds.includes(team.id) && team.allowMemberTokenManagement;
  return {
    ...owner,
    team,
    canUpdate: isOwner || (access.manageTeams && !isOwnersTeam),
    canManageMembers: isOwner || (access.manageMembership && !isOwnersTeam),
    canManageTokens: isOwner || ((access.manageTeams || isMember) && !isOwnersTeam),
  };
};

/** Undefined when the caller may not see the team. */
export const findVisibleTeam = async (
  reads: Reads,
  owner: OrganizationAccessResult,
  teamId: string,
): Promise<Team | undefined> => {
  const team = await teamRecords.find(reads, teamId);
  if (team?.organizationId !== owner.organization.id) return undefined;
  return decideTeamAccess(owner, team) && team;
};

/** @throws KeelsonError `workspace.not_found` */
export const requireTeam = async (
  reads: Reads,
  principal: Principal,
  teamId: string,
): Promise<TeamAccessResult> => {
  const team = await teamRecords.find(reads, teamId);
  if (team === undefined) throw notFound('team');
  const owner = await requireOrganizationOf(reads, principal, team.organizationId, 'team');
  const access = decideTeamAccess(owner, team);
  if (access === undefined) throw notFound('team');
  return access;
};
