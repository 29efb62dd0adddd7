/** The caller's rights in an organization. Anything it may not see is answered as not found. */
import { KeelsonError } from '@keelson/errors';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Reads, readableOnly } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import type { Organization } from '../model/domain/organization.ts';
import {
  FULL_ORGANIZATION_ACCESS,
  NO_ORGANIZATION_ACCESS,
  ORGANIZATION_TOKEN_ACCESS,
  uniteOrganizationAccess,
} from '../model/domain/organization-access.ts';
import { livesTooLong } from '../model/domain/token-lifetime.ts';
import { findOrganizationByName, organizationRecords } from '../model/organization-records.ts';
import { isOrganizationOff } from '../model/organization-switch-records.ts';
import { membershipRecords, teamRecords } from '../model/team-records.ts';
import { findToken, isSession } from '../model/token-records.ts';
import type { CallerAccess } from './domain/caller-access.ts';
import { isWithoutSecondFactor } from './second-factor-access.ts';

const present = <T>(value: T | undefined): value is T => value !== undefined;

const findTeamIds = async (
  reads: Reads,
  principal: Principal,
  organization: Organization,
): Promise<readonly string[] | undefined> => {
  if (principal.kind === 'team') {
    const team = await teamRecords.find(reads, principal.id);
    return team?.organizationId === organization.id ? [team.id] : undefined;
  }
  if (principal.kind !== 'user') return undefined;
  return (await membershipRecords.find(reads, organization.id, principal.id))?.teamIds;
};

/** The caller's rights in the organization, whether or not it is on; undefined when it has none. */
export const findCallerRights = async (
  reads: Reads,
  principal: Principal,
  organization: Organization,
): Promise<CallerAccess | undefined> => {
  if (principal.kind === 'organization') {
    return principal.id === organization.name
      ? { kind: 'organization', isOwner: false, access: ORGANIZATION_TOKEN_ACCESS, teamIds: [] }
      : undefined;
  }
  if (principal.kind === 'run') {
    return principal.organization === organization.name
      ? { kind: 'run', isOwner: false, access: NO_ORGANIZATION_ACCESS, teamIds: [] }
      : undefined;
  }
  const teamIds = await findTeamIds(reads, principal, organization);
  if (teamIds === undefined) return undefined;
  const kind = principal.kind === 'team' ? 'team' : 'user';
  if (teamIds.includes(organization.ownersTeamId)) {
    return { kind, isOwner: true, access: FULL_ORGANIZATION_ACCESS, teamIds };
  }
  if (
    kind === 'user' &&
    !organization.settings.userTokensEnabled &&
    !(await isSession(reads, principal.tokenId))
  )
    return undefined;
  // A damaged team grants nothing.
  const teams = await Promise.all(teamIds.map((id) => teamRecords.find(readableOnly(reads), id)));
  const access = uniteOrganizationAccess([
    NO_ORGANIZATION_ACCESS,
    ...teams.filter(present).map(({ organizationAccess }) => organizationAccess),
  ]);
  return { kind, isOwner: false, access, teamIds };
};

/** The caller's rights in the organization; undefined when it has none, or is kept out at the moment. */
export const findCallerAccess = async (
  reads: Reads,
  principal: Principal,
  organization: Organization,
): Promise<CallerAccess | undefined> =>
  (await isOff(reads, principal, organization)) ||
  (await usesTooLongToken(reads, principal, organization)) ||
  (await isWithoutSecondFactor(reads, principal, organization))
    ? undefined
    : findCallerRights(reads, principal, organization);

/** A run that is canceled because its organization is off still stores its state. */
const isOff = async (reads: Reads, { kind }: Principal, { id }: Organization): Promise<boolean> =>
  kind !== 'run' && (await isOrganizationOff(reads, id));

/**
 * Whether the caller comes with an API token that was made for longer than the organization allows. Sessions end by
 * themselves.
 */
export const usesTooLongToken = async (
  reads: Reads,
  { tokenId }: Principal,
  organization: Organization,
): Promise<boolean> => {
  if (!organization.settings.maxTtlEnabled) return false;
  const token = await findToken(reads, tokenId);
  return token !== undefined && livesTooLong(token, organization);
};

export interface OrganizationAccessResult {
  readonly organization: Organization;
  readonly caller: CallerAccess;
  /** Set in lists, which name such an organization; every other request to it is refused. */
  readonly lacksSecondFactor?: boolean;
}

const requireRights = async (
  reads: Reads,
  principal: Principal,
  organization: Organization | undefined,
  resource: string,
): Promise<OrganizationAccessResult> => {
  const caller = organization && (await findCallerRights(reads, principal, organization));
  if (organization === undefined || caller === undefined) throw notFound(resource);
  if (await isOff(reads, principal, organization))
    throw new KeelsonError('workspace.organization_off', { name: organization.name });
  if (await usesTooLongToken(reads, principal, organization))
    throw new KeelsonError('workspace.token_lives_too_long', { name: organization.name });
  if (await isWithoutSecondFactor(reads, principal, organization))
    throw new KeelsonError('workspace.two_factor_required', { name: organization.name });
  return { organization, caller };
};

/**
 * @throws KeelsonError `workspace.not_found` when the organization is absent or the caller has no
 * rights in it, `workspace.organization_off`, `workspace.token_lives_too_long`, `workspace.two_factor_required`
 */
export const requireOrganization = async (
  reads: Reads,
  principal: Principal,
  name: string,
): Promise<OrganizationAccessResult> => {
  const organization = await findOrganizationByName(reads, name);
  return requireRights(reads, principal, organization, 'organization');
};

/**
 * @throws KeelsonError `workspace.not_found` for `resource`, which belongs to the organization,
 * `workspace.organization_off`, `workspace.token_lives_too_long`, `workspace.two_factor_required`
 */
export const requireOrganizationOf = async (
  reads: Reads,
  principal: Principal,
  organizationId: string,
  resource: string,
): Promise<OrganizationAccessResult> => {
  const organization = await organizationRecords.find(reads, organizationId);
  return requireRights(reads, principal, organization, resource);
};
