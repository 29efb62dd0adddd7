import { KeelsonError } from '@keelson/errors';
import { newResourceId, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import { attributeViolation, type Violation } from '../../base/validation/domain/violation.ts';
import { decideOrganizationPermissions } from '../access/domain/organization-permissions.ts';
import { requireOrganization } from '../access/organization-access-operations.ts';
import { decideTeamAccess, requireTeam, type TeamAccessResult } from '../access/team-access.ts';
import {
  NO_ORGANIZATION_ACCESS,
  type OrganizationAccess,
} from '../model/domain/organization-access.ts';
import {
  findContradiction,
  isTeamName,
  OWNERS_TEAM_NAME,
  type Team,
} from '../model/domain/team.ts';
import { loadTeams, teamRecords } from '../model/team-records.ts';
import { removeTeam } from './membership-operations.ts';

export interface TeamInput {
  readonly name?: string;
  readonly visibility?: Team['visibility'];
  readonly ssoTeamId?: string | null;
  readonly allowMemberTokenManagement?: boolean;
  readonly organizationAccess?: Partial<OrganizationAccess>;
}

export const checkTeam = (given: TeamInput, held?: OrganizationAccess): readonly Violation[] => {
  const violations: Violation[] = [];
  if (given.name !== undefined && !isTeamName(given.name)) {
    violations.push(
      attributeViolation(
        'name',
        'Name can only include letters, numbers, inner spaces, -, and _, 1 to 90 in all',
      ),
    );
  }
  const contradiction = findContradiction(given.organizationAccess ?? {}, held);
  if (contradiction !== undefined) {
    violations.push(
      attributeViolation(
        `organization-access/${contradiction}`,
        `${contradiction} cannot be false while a wider access is true`,
      ),
    );
  }
  return violations;
};

/** Granting organization access to a team requires a caller who could grant everything anyway. */
const requireMayGrant = (given: TeamInput, { caller }: Pick<TeamAccessResult, 'caller'>) => {
  const grants = Object.values(given.organizationAccess ?? {}).includes(true);
  if (grants && !caller.isOwner && !caller.access.manageOrganizationAccess) {
    throw notFound('organization');
  }
};

const requireFreeName = async (
  reads: Reads,
  organizationId: string,
  name: string,
  teamId?: string,
) => {
  const ids = await teamRecords.by.name.keys(reads, [organizationId, name]);
  if (ids.some((id) => id !== teamId)) {
    refuseInvalid([attributeViolation('name', 'Name has already been taken')]);
  }
};

/** A group of a provider makes people members, which takes the right to do so. */
const requireMayName = (
  ssoTeamId: string | null | undefined,
  before: string | null,
  canManageMembers: boolean,
): void => {
  if (ssoTeamId !== undefined && ssoTeamId !== before && !canManageMembers)
    refuseInvalid([
      attributeViolation('sso-team-id', 'is set by those who may also manage members'),
    ]);
};

export const createTeam = (
  { store, clock }: ServiceContext,
  principal: Principal,
  organizationName: string,
  given: TeamInput & { readonly name: string },
): Promise<TeamAccessResult> =>
  store.transact(async (tx) => {
    const owner = await requireOrganization(tx, principal, organizationName);
    const { organization, caller } = owner;
    if (!decideOrganizationPermissions(caller).canCreateTeam) throw notFound('organization');
    refuseInvalid(checkTeam(given));
    requireMayGrant(given, owner);
    requireMayName(given.ssoTeamId, null, decideOrganizationPermissions(caller).canManageUsers);
    await requireFreeName(tx, organization.id, given.name);
    const team: Team = {
      id: newResourceId('team'),
      organizationId: organization.id,
      visibility: 'secret',
      ssoTeamId: null,
      allowMemberTokenManagement: true,
      ...given,
      organizationAccess: { ...NO_ORGANIZATION_ACCESS, ...given.organizationAccess },
      serviceUserId: newResourceId('user'),
      createdAtMs: clock.nowMs(),
    };
    await teamRecords.write(tx, [team.id], team);
    const access = decideTeamAccess(owner, team);
    if (access === undefined) throw notFound('team');
    return access;
  });

export const updateTeam = (
  { store }: ServiceContext,
  principal: Principal,
  teamId: string,
  given: TeamInput,
): Promise<TeamAccessResult> =>
  store.transact(async (tx) => {
    const access = await requireTeam(tx, principal, teamId);
    const { team } = access;
    if (!access.canUpdate) throw notFound('team');
    refuseInvalid(checkTeam(given, team.organizationAccess));
    requireMayGrant(given, access);
    requireMayName(given.ssoTeamId, team.ssoTeamId, access.canManageMembers);
    const next: Team = {
      ...team,
      ...given,
      organizationAccess: { ...team.organizationAccess, ...given.organizationAccess },
    };
    if (next.name !== team.name) {
      if (team.name === OWNERS_TEAM_NAME) {
        refuseInvalid([attributeViolation('name', 'the owners team cannot be renamed')]);
      }
      await requireFreeName(tx, team.organizationId, next.name, team.id);
    }
    await teamRecords.write(tx, [team.id], next);
    return { ...access, team: next };
  });

export const deleteTeam = (
  { store }: ServiceContext,
  principal: Principal,
  teamId: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const { team, canUpdate } = await requireTeam(tx, principal, teamId);
    if (!canUpdate) throw notFound('team');
    if (team.name === OWNERS_TEAM_NAME) {
      throw new KeelsonError('workspace.forbidden', { text: 'the owners team cannot be deleted' });
    }
    await removeTeam(tx, team);
  });

/** The teams that the caller may see, by name. */
export const listTeams = async (
  { store }: ServiceContext,
  principal: Principal,
  organizationName: string,
  filter: { readonly names: readonly string[]; readonly search: string | undefined },
): Promise<{ readonly teams: readonly TeamAccessResult[]; readonly visibleCount: number }> => {
  const owner = await requireOrganization(store, principal, organizationName);
  const visible: TeamAccessResult[] = [];
  for (const team of await loadTeams(store, owner.organization.id)) {
    const access = decideTeamAccess(owner, team);
    if (access !== undefined) visible.push(access);
  }
  const teams = visible.filter(
    ({ team: { name } }) =>
      (filter.names.length === 0 || filter.names.includes(name)) &&
      name.toLowerCase().includes(filter.search?.toLowerCase() ?? ''),
  );
  return { teams, visibleCount: visible.length };
};
