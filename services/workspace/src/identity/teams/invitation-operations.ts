/** Invitations to an organization by email address. */
import { KeelsonError } from '@keelson/errors';
import { refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Transaction } from '@keelson/storage';
import type { Mail } from '../../base/mail/mailer.ts';
import { notFound } from '../../base/not-found.ts';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import { decideOrganizationPermissions } from '../access/domain/organization-permissions.ts';
import { requireOrganization } from '../access/organization-access-operations.ts';
import { requireTeam } from '../access/team-access.ts';
import { issueCode, LINK_DAYS, type LinkMails, obstacleToMail } from '../mails/link-mails.ts';
import { isEmail } from '../model/domain/organization.ts';
import { organizationRecords } from '../model/organization-records.ts';
import {
  findMembershipPlace,
  invitationMails,
  invitations,
  listOrganizationsOf,
  membershipRecords,
} from '../model/team-records.ts';
import { findUserByEmail, type User, userRecords } from '../model/user-records.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { deleteTokensOf } from '../tokens/token-operations.ts';
import { addInvitedUser } from '../users/user-operations.ts';
import { loadMembershipView, type MembershipView } from './membership-list-operations.ts';
import { joinOrganization, joinTeam } from './membership-operations.ts';

const refuseEmail = (text: string): void => refuseInvalid([attributeViolation('email', text)]);

/** The user of the address, or an account for it. */
const requireInvitee = async (tx: Transaction, email: string, nowMs: number): Promise<User> => {
  if (!isEmail(email)) refuseEmail('Email is invalid');
  return (await findUserByEmail(tx, email)) ?? addInvitedUser(tx, email, nowMs);
};

export interface Invited {
  readonly view: MembershipView;
  /** Why no mail is sent; empty where one is. */
  readonly warnings: readonly string[];
}

const openInvitation = async (
  context: IdentityContext,
  tx: Transaction,
  principal: Principal,
  organizationId: string,
  user: User,
): Promise<void> => {
  const open = await invitations.keys(tx, [organizationId]);
  if (open.length >= context.invitationsLimit) {
    throw new KeelsonError('workspace.conflict', {
      text: `an organization has at most ${context.invitationsLimit} open invitations`,
    });
  }
  const invitedById = principal.kind === 'user' ? principal.id : null;
  invitations.write(tx, [organizationId, user.id], { invitedById });
  if (user.isInvited !== true)
    await userRecords.write(tx, user.id, { ...user, hasInvitation: true });
};

/**
 * Invites an address to become a member. For an address without a user, an account is created. The invitation
 * is open until the first request of the account, or until its link is followed, which is sent by mail where
 * the installation can.
 */
export const inviteMember = (
  context: IdentityContext,
  principal: Principal,
  organizationName: string,
  { email, teamIds }: { readonly email: string; readonly teamIds: readonly string[] },
): Promise<Invited> =>
  context.store.transact(async (tx) => {
    const { organization, caller } = await requireOrganization(tx, principal, organizationName);
    if (!decideOrganizationPermissions(caller).canManageUsers) throw notFound('organization');
    const nowMs = context.clock.nowMs();
    const user = await requireInvitee(tx, email, nowMs);
    if ((await membershipRecords.find(tx, organization.id, user.id)) !== undefined) {
      const open = await invitations.find(tx, organization.id, user.id);
      refuseEmail(open === undefined ? 'is a member already' : 'was invited already');
    }
    const membership = await joinOrganization(tx, organization.id, user.id, nowMs);
    for (const teamId of teamIds) {
      const { team, canManageMembers } = await requireTeam(tx, principal, teamId);
      if (!canManageMembers || team.organizationId !== organization.id) throw notFound('team');
      await joinTeam(tx, organization.id, team.id, user.id, nowMs);
    }
    await openInvitation(context, tx, principal, organization.id, user);
    const obstacle = obstacleToMail(context);
    if (obstacle === undefined) {
      invitationMails.write(tx, [membership.id], { attempts: 0, dueAtMs: 0 });
    }
    const view = await loadMembershipView(tx, organization, user.id);
    if (view === undefined) throw notFound('organization membership');
    const advice = 'a site administrator gives the person a token';
    return { view, warnings: obstacle === undefined ? [] : [`${obstacle}: ${advice}`] };
  });

/** Ends the links of an account that nobody has used yet; others are sent to the address that it gets. */
export const endInvitationLinksOf = async (
  context: IdentityContext,
  tx: Transaction,
  userId: string,
): Promise<void> => {
  for (const organizationId of await listOrganizationsOf(tx, userId)) {
    const membership = await membershipRecords.find(tx, organizationId, userId);
    const open = await invitations.find(tx, organizationId, userId);
    if (membership === undefined || open === undefined) continue;
    await deleteTokensOf(tx, membership.id);
    if (obstacleToMail(context) === undefined)
      invitationMails.write(tx, [membership.id], { attempts: 0, dueAtMs: 0 });
  }
};

/** @param code undefined for an account that existed: its owner has tokens */
const toMail = (
  { user, organization }: MembershipView,
  publicUrl: string,
  code: string | undefined,
): Mail => ({
  to: [user.email],
  subject: `Invitation to ${organization.name}`,
  text: [
    `You are invited to the organization ${organization.name} at ${publicUrl}.`,
    '',
    ...(code === undefined
      ? [
          `You have the account ${user.username} there. Sign in at ${publicUrl}/app to see the organization.`,
        ]
      : [
          `This link shows who invites you, and opens your account. It works once, within ${LINK_DAYS} days:`,
          '',
          // After "#", so that neither servers nor proxies on the way see or log the code.
          `${publicUrl}/app/invitation#${code}`,
        ]),
    '',
  ].join('\n'),
});

/** Mails of invitations, by membership. An invitation that was accepted or withdrawn needs none. */
export const INVITATION_MAILS: LinkMails = {
  waiting: invitationMails,
  findCause: async (reads, id) => (await findMembershipPlace(reads, id))?.organizationId,
  prepare: async (tx, membershipId, publicUrl, nowMs) => {
    const place = await findMembershipPlace(tx, membershipId);
    const organization = place && (await organizationRecords.find(tx, place.organizationId));
    const view = organization && (await loadMembershipView(tx, organization, place.userId));
    if (view?.status !== 'invited') return undefined;
    if (view.user.isInvited !== true) {
      return { mail: toMail(view, publicUrl, undefined), codeId: undefined };
    }
    const { token, text } = await issueCode(tx, { kind: 'invitation', id: membershipId }, nowMs);
    return { mail: toMail(view, publicUrl, text), codeId: token.id };
  },
};
