/** The user of a person at the provider of identities, and the teams of the person's groups. */
import { hash } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import type { Transaction } from '@keelson/storage';
import { ssoIdentities } from '../model/credential-records.ts';
import type { SsoSettings } from '../model/domain/sso-settings.ts';
import { organizationRecords } from '../model/organization-records.ts';
import {
  findTeamsOfGroup,
  listOrganizationsOf,
  membershipRecords,
  teamRecords,
} from '../model/team-records.ts';
import { findUserByEmail, type User, userRecords } from '../model/user-records.ts';
import { findMemberIds, joinTeam, leaveTeam } from '../teams/membership-operations.ts';
import { activateUser } from '../tokens/first-use-operations.ts';
import { addNamedUser } from '../users/user-operations.ts';
import type { Person } from './domain/person.ts';

const refuse = (text: string): never => {
  throw new KeelsonError('workspace.sso_refused', { text });
};

/** The identity of a person lasts as long as the provider's name for them, whatever their address. */
const keyOf = (issuer: string, subject: string): string =>
  hash('sha256', JSON.stringify([issuer, subject]));

const findOrCreate = async (
  tx: Transaction,
  settings: SsoSettings,
  { email, name }: Person,
  nowMs: number,
): Promise<User> => {
  if (email === undefined)
    return refuse('the provider has not verified a mail address of this person');
  const known = await findUserByEmail(tx, email);
  if (known?.isSiteAdmin === true)
    return refuse(
      'an administrator of the site has the mail address, and is linked by nobody else',
    );
  // An invitation has made it for whoever has the address, and nobody has used it.
  if (known?.isInvited === true && settings.createsUsers) return known;
  if (known !== undefined)
    return settings.linksUsers
      ? known
      : refuse('another account has the mail address: an administrator of the site decides');
  return settings.createsUsers
    ? addNamedUser(tx, email, name, nowMs)
    : refuse('the person has no account here');
};

/**
 * The user of a person, found by the provider's name for them, else as the site permits by the verified address.
 * @throws KeelsonError `workspace.sso_refused`
 */
export const requireSsoUser = async (
  tx: Transaction,
  settings: SsoSettings,
  person: Person,
  nowMs: number,
): Promise<User> => {
  const key = keyOf(settings.issuer, person.subject);
  const identity = await ssoIdentities.find(tx, key);
  const linked = identity && (await userRecords.find(tx, identity.userId));
  const user = linked ?? (await findOrCreate(tx, settings, person, nowMs));
  if (user.isSuspended === true) refuse('the account is suspended');
  if (linked === undefined) {
    const { issuer } = settings;
    await ssoIdentities.write(tx, [key], { userId: user.id, issuer, subject: person.subject });
  }
  const current: User = { ...user, hasSingleSignOn: true };
  await userRecords.write(tx, user.id, current);
  // Whoever has the address has accepted the invitations to it.
  if (current.isInvited === true || current.hasInvitation === true) await activateUser(tx, current);
  return (await userRecords.find(tx, user.id)) ?? current;
};

/**
 * Makes the user a member of the teams of the groups, and of no other team that has one. Owners of any organization may
 * name any group: the user joins their organization only if it has the user already, or the site permits it. The last
 * owner stays: an organization without owners has nobody to help it.
 */
export const followGroups = async (
  tx: Transaction,
  { joinsOrganizations }: SsoSettings,
  userId: string,
  groups: readonly string[],
  nowMs: number,
): Promise<void> => {
  const wanted = new Set(groups);
  const isMember = async (organizationId: string): Promise<boolean> =>
    (await membershipRecords.find(tx, organizationId, userId)) !== undefined;
  for (const group of groups)
    for (const team of await findTeamsOfGroup(tx, group))
      if (joinsOrganizations === true || (await isMember(team.organizationId)))
        await joinTeam(tx, team.organizationId, team.id, userId, nowMs);
  for (const organizationId of await listOrganizationsOf(tx, userId)) {
    const organization = await organizationRecords.find(tx, organizationId);
    const membership = await membershipRecords.find(tx, organizationId, userId);
    if (organization === undefined || membership === undefined) continue;
    for (const teamId of membership.teamIds) {
      const team = await teamRecords.find(tx, teamId);
      if (team === undefined || team.ssoTeamId === null || wanted.has(team.ssoTeamId)) continue;
      const isOwners = teamId === organization.ownersTeamId;
      if (isOwners && (await findMemberIds(tx, team)).length === 1) continue;
      await leaveTeam(tx, organization, teamId, userId);
    }
  }
};
