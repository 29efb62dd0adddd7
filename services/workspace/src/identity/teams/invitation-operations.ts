/** Invitations to an organization by email address. */
import { KeelsonError } from '@keelson/errors';
import { refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Transaction, type TransactOptions, unlessDamaged } from '@keelson/storage';
import type { Mail } from '../../base/mail/mailer.ts';
import { notFound } from '../../base/not-found.ts';
import { MESSAGE_RETRIES, pauseAfter } from '../../base/retries.ts';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import { decideOrganizationPermissions } from '../access/domain/organization-permissions.ts';
import { requireOrganization } from '../access/organization-access-operations.ts';
import { requireTeam } from '../access/team-access.ts';
import { isEmail } from '../model/domain/organization.ts';
import { organizationRecords } from '../model/organization-records.ts';
import {
  invitationMails,
  invitations,
  membershipPlaces,
  membershipRecords,
} from '../model/team-records.ts';
import { findUsersByEmail, storeUser, type User } from '../model/user-records.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { issueToken, removeToken } from '../tokens/token-operations.ts';
import { addInvitedUser } from '../users/user-operations.ts';
import { loadMembershipView, type MembershipView } from './membership-list-operations.ts';
import { joinOrganization, joinTeam } from './membership-operations.ts';

/** Lifetime of an invitation's link. */
const LINK_DAYS = 7;
const DAY_MS = 24 * 3600 * 1000;

const refuseEmail = (text: string): void => refuseInvalid([attributeViolation('email', text)]);

/** The one user of the address, or an account for it. */
const requireInvitee = async (tx: Transaction, email: string, nowMs: number): Promise<User> => {
  if (!isEmail(email)) refuseEmail('Email is invalid');
  const [known, second] = await findUsersByEmail(tx, email);
  if (second !== undefined) refuseEmail('several users have this address');
  return known ?? addInvitedUser(tx, email, nowMs);
};

export interface Invited {
  readonly view: MembershipView;
  /** Why no mail is sent; empty where one is. */
  readonly warnings: readonly string[];
}

/** Why the invited person gets no mail; undefined where one is sent. */
const obstacleToMail = ({ mailer, publicUrl }: IdentityContext): string | undefined => {
  const missing = [
    ...(mailer === undefined ? ['KEELSON_WORKSPACE_SMTP_URL'] : []),
    ...(publicUrl === undefined ? ['KEELSON_PUBLIC_URL'] : []),
  ];
  return missing.length === 0
    ? undefined
    : `no mail was sent, because this installation has no ${missing.join(' and no ')}: a site administrator gives the person a token`;
};

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
  if (user.isInvited !== true) storeUser(tx, { ...user, hasInvitation: true }, user);
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
    return { view, warnings: obstacle === undefined ? [] : [obstacle] };
  });

interface PreparedMail {
  readonly mail: Mail;
  /** The code of its link; undefined for an account that existed, which needs none. */
  readonly codeId: string | undefined;
}

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

/** Prepares the mail of an invitation; undefined when it was accepted or withdrawn. */
const prepareMail = (
  { store, clock }: IdentityContext,
  membershipId: string,
  publicUrl: string,
  options: TransactOptions,
): Promise<PreparedMail | undefined> =>
  store.transact(async (tx) => {
    const place = await membershipPlaces.find(tx, membershipId);
    const organization = place && (await organizationRecords.find(tx, place.organizationId));
    const view = organization && (await loadMembershipView(tx, organization, place.userId));
    if (view?.status !== 'invited') {
      invitationMails.delete(tx, membershipId);
      return undefined;
    }
    if (view.user.isInvited !== true) {
      return { mail: toMail(view, publicUrl, undefined), codeId: undefined };
    }
    const nowMs = clock.nowMs();
    const owner = { kind: 'invitation', id: membershipId } as const;
    const given = { description: 'link', expiresAtMs: nowMs + LINK_DAYS * DAY_MS };
    const { token, text } = issueToken(tx, owner, given, null, nowMs);
    return { mail: toMail(view, publicUrl, text), codeId: token.id };
  }, options);

const sendOne = async (
  context: IdentityContext,
  membershipId: string,
  options: TransactOptions,
): Promise<void> => {
  const { store, clock, mailer, publicUrl } = context;
  const waiting = await invitationMails.find(store, membershipId);
  if (mailer === undefined || publicUrl === undefined) return;
  if (waiting === undefined || waiting.dueAtMs > clock.nowMs()) return;
  const prepared = await prepareMail(context, membershipId, publicUrl, options);
  if (prepared === undefined) return;
  const isSent = await mailer.send(prepared.mail).then(
    () => true,
    () => false,
  );
  await store.transact(async (tx) => {
    const current = await invitationMails.find(tx, membershipId);
    if (!isSent && prepared.codeId !== undefined) {
      await removeToken(tx, membershipId, prepared.codeId);
    }
    if (current === undefined) return;
    const attempts = current.attempts + 1;
    const pauseMs = isSent ? undefined : pauseAfter(MESSAGE_RETRIES, attempts);
    if (pauseMs === undefined) {
      invitationMails.delete(tx, membershipId);
      return;
    }
    const dueAtMs = clock.nowMs() + pauseMs;
    invitationMails.write(tx, [membershipId], { ...current, attempts, dueAtMs });
  }, options);
};

/** Sends the mails that wait. The code of a mail that was not sent is removed. */
export const sendInvitations = async (
  context: IdentityContext,
  options: TransactOptions,
): Promise<void> => {
  for (const id of await invitationMails.keys(context.store, [])) {
    await unlessDamaged(sendOne(context, id, options));
  }
};
