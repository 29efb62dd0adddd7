/** Users, teams and organizations as owners of tokens. */
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import { decideOrganizationPermissions } from '../access/domain/organization-permissions.ts';
import { requireOrganizationOf } from '../access/organization-access-operations.ts';
import { requireTeam } from '../access/team-access.ts';
import { findSignInWaysOf } from '../model/credential-records.ts';
import type { Organization } from '../model/domain/organization.ts';
import { isOfPresent, isSessionOpen } from '../model/domain/session-life.ts';
import type { ApiToken } from '../model/domain/token.ts';
import { livesTooLong } from '../model/domain/token-lifetime.ts';
import { organizationRecords } from '../model/organization-records.ts';
import { findMembershipPlace, invitations, teamRecords } from '../model/team-records.ts';
import { emailConfirmations, userRecords } from '../model/user-records.ts';
import type { TokenOwnerRules, TokenOwners } from '../seams/token-owners.ts';

/** A principal that belongs to one organization and is not a person. */
export const toOrganizationPrincipal = (
  kind: 'team' | 'organization' | 'audit-trail' | 'agent' | 'run',
  { id, displayName }: { readonly id: string; readonly displayName: string },
  organization: Organization | undefined,
  token: ApiToken,
): Principal | undefined =>
  organization && {
    kind,
    id,
    organization: organization.name,
    tokenId: token.id,
    displayName,
    siteAdmin: false,
  };

const user: TokenOwnerRules = {
  findPrincipal: async (reads, token) => {
    const found = await userRecords.find(reads, token.ownerId);
    if (found === undefined || found.isSuspended === true) return undefined;
    return {
      kind: 'user',
      id: found.id,
      organization: '',
      tokenId: token.id,
      displayName: found.username,
      siteAdmin: found.isSiteAdmin,
    };
  },
  requireManager: async (reads, principal, ownerId) => {
    const isOwn = principal.kind === 'user' && principal.id === ownerId;
    const found = isOwn || principal.siteAdmin ? await userRecords.find(reads, ownerId) : undefined;
    if (found === undefined) throw notFound('user');
  },
};

/** It ends when users may no longer sign in as it was made. */
const session: TokenOwnerRules = {
  ...user,
  findPrincipal: async (reads, token, nowMs) =>
    isSessionOpen(token, await findSignInWaysOf(reads, token), nowMs)
      ? user.findPrincipal(reads, token, nowMs)
      : undefined,
};

const team: TokenOwnerRules = {
  findPrincipal: async (reads, token) => {
    const found = await teamRecords.find(reads, token.ownerId);
    const organization = found && (await organizationRecords.find(reads, found.organizationId));
    if (found === undefined || organization === undefined) return undefined;
    if (livesTooLong(token, organization)) return undefined;
    const named = { id: found.id, displayName: found.name };
    return toOrganizationPrincipal('team', named, organization, token);
  },
  requireManager: async (reads, principal, ownerId) => {
    if (!(await requireTeam(reads, principal, ownerId)).canManageTokens) throw notFound('team');
  },
};

const ofOrganization = (kind: 'organization' | 'audit-trail'): TokenOwnerRules => ({
  findPrincipal: async (reads, token) => {
    const found = await organizationRecords.find(reads, token.ownerId);
    if (found === undefined || livesTooLong(token, found)) return undefined;
    const named = { id: found.name, displayName: found.name };
    return toOrganizationPrincipal(kind, named, found, token);
  },
  requireManager: async (reads, principal, ownerId) => {
    const owner = await requireOrganizationOf(reads, principal, ownerId, 'organization');
    if (!decideOrganizationPermissions(owner.caller).canUpdateApiToken) {
      throw notFound('organization');
    }
  },
});

/** The code of a one-time link, which nobody manages, and whose principal only follows the link. */
const linkOwner = (
  kind: 'invitation' | 'email-confirmation' | 'password-reset',
  isOpen: (reads: Reads, ownerId: string, token: ApiToken) => Promise<boolean>,
): TokenOwnerRules => ({
  findPrincipal: async (reads, token) =>
    (await isOpen(reads, token.ownerId, token))
      ? {
          kind,
          id: token.ownerId,
          organization: '',
          tokenId: token.id,
          displayName: kind,
          siteAdmin: false,
        }
      : undefined,
  requireManager: () => Promise.reject(notFound('token')),
});

/** It ends with the invitation. */
const invitation = linkOwner('invitation', async (reads, membershipId) => {
  const place = await findMembershipPlace(reads, membershipId);
  const open = place && (await invitations.find(reads, place.organizationId, place.userId));
  const user = open && (await userRecords.find(reads, place.userId));
  return user !== undefined && user.isSuspended !== true;
});

/** It ends when the user gives another address. */
const emailConfirmation = linkOwner('email-confirmation', async (reads, id) => {
  const found = await emailConfirmations.find(reads, id);
  const user = found && (await userRecords.find(reads, found.userId));
  return user !== undefined && user.isSuspended !== true;
});

/** It ends with the next one, when it is used, and when users may have no passwords. */
const passwordReset = linkOwner('password-reset', async (reads, userId, token) => {
  const found = await userRecords.find(reads, userId);
  const isPresent = isOfPresent(token, await findSignInWaysOf(reads, token));
  return isPresent && found !== undefined && found.isSuspended !== true;
});

/** Owners that this module defines. */
export const IDENTITY_TOKEN_OWNERS = {
  user,
  session,
  team,
  organization: ofOrganization('organization'),
  'audit-trail': ofOrganization('audit-trail'),
  invitation,
  'email-confirmation': emailConfirmation,
  'password-reset': passwordReset,
} as const satisfies Partial<TokenOwners>;
