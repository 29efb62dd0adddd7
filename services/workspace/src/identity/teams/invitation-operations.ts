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
import { findUsersByEmail, type User } from '../model/user-records.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { issueToken, removeToken } from '../tokens/token-operations.ts';
import { addInvitedUser } from '../users/user-operations.ts';
import { loadMembershipView, type MembershipView } from './membership-list-operations.ts';
import { joinOrganization, joinTeam } from './membership-operations.ts';

/** Lifetime of the token that an invitation brings. */
const TOKEN_DAYS = 7;
const DAY_MS = 24 * 3600 * 1000;

const refuseEmail = (text: string): void => refuseInvalid([attributeViolation('email', text)]);

/** The one user of the address, or an account for it. */
const requireInvitee = async (tx: Transaction, email: string, nowMs: number): Promise<User> => {
  if (!isEmail(email)) refuseEmail('Email is invalid');
  const [known, second] = await findUsersByEmail(tx, email);
  if (second !== undefined) refuseEmail('several users have this address');
  return known ?? addInvitedUser(tx, email, nowMs);
};

/**
 * Makes the user of an address a member. An address without a user is invited: an account is
 * created for it, which its first request makes active, and the invitation is sent by mail where
 * the installation sends any.
 */
export const inviteMember = (
  { store, clock, mailer, invitationsLimit }: IdentityContext,
  principal: Principal,
  organizationName: string,
  { email, teamIds }: { readonly email: string; readonly teamIds: readonly string[] },
  baseUrl: string,
): Promise<MembershipView> =>
  store.transact(async (tx) => {
    const { organization, caller } = await requireOrganization(tx, principal, organizationName);
    if (!decideOrganizationPermissions(caller).canManageUsers) throw notFound('organization');
    const nowMs = clock.nowMs();
    const user = await requireInvitee(tx, email, nowMs);
    if ((await membershipRecords.find(tx, organization.id, user.id)) !== undefined) {
      refuseEmail(user.isInvited === true ? 'was invited already' : 'is a member already');
    }
    const membership = await joinOrganization(tx, organization.id, user.id, nowMs);
    for (const teamId of teamIds) {
      const { team, canManageMembers } = await requireTeam(tx, principal, teamId);
      if (!canManageMembers || team.organizationId !== organization.id) throw notFound('team');
      await joinTeam(tx, organization.id, team.id, user.id, nowMs);
    }
    if (user.isInvited === true) {
      const open = await invitations.keys(tx, [organization.id]);
      if (open.length >= invitationsLimit) {
        throw new KeelsonError('workspace.conflict', {
          text: `an organization has at most ${invitationsLimit} open invitations`,
        });
      }
      invitations.write(tx, [organization.id, user.id], {});
      if (mailer !== undefined) {
        invitationMails.write(tx, [membership.id], { baseUrl, attempts: 0, dueAtMs: 0 });
      }
    }
    const view = await loadMembershipView(tx, organization, user.id);
    if (view === undefined) throw notFound('organization membership');
    return view;
  });

interface IssuedMail {
  readonly mail: Mail;
  readonly userId: string;
  readonly tokenId: string;
}

const toMail = ({ user, organization }: MembershipView, baseUrl: string, token: string): Mail => ({
  to: [user.email],
  subject: `Invitation to ${organization.name}`,
  text: [
    `You are invited to the organization ${organization.name} at ${baseUrl}.`,
    '',
    `Sign in at ${baseUrl}/app, or configure your client, with this API token of the user ${user.username}.`,
    `It expires in ${TOKEN_DAYS} days; create another one before that.`,
    '',
    token,
    '',
  ].join('\n'),
});

/** Issues the token of an invitation; undefined when it was accepted or withdrawn. */
const issueMail = (
  { store, clock }: IdentityContext,
  membershipId: string,
  baseUrl: string,
  options: TransactOptions,
): Promise<IssuedMail | undefined> =>
  store.transact(async (tx) => {
    const place = await membershipPlaces.find(tx, membershipId);
    const organization = place && (await organizationRecords.find(tx, place.organizationId));
    const view = organization && (await loadMembershipView(tx, organization, place.userId));
    if (view?.user.isInvited !== true) {
      invitationMails.delete(tx, membershipId);
      return undefined;
    }
    const nowMs = clock.nowMs();
    const owner = { kind: 'user', id: view.user.id } as const;
    const description = `Invitation to ${view.organization.name}`;
    const expiresAtMs = nowMs + TOKEN_DAYS * DAY_MS;
    const { token, text } = issueToken(tx, owner, { description, expiresAtMs }, null, nowMs);
    return { mail: toMail(view, baseUrl, text), userId: view.user.id, tokenId: token.id };
  }, options);

const sendOne = async (
  context: IdentityContext,
  membershipId: string,
  options: TransactOptions,
): Promise<void> => {
  const { store, clock, mailer } = context;
  const waiting = await invitationMails.find(store, membershipId);
  if (mailer === undefined || waiting === undefined || waiting.dueAtMs > clock.nowMs()) return;
  const issued = await issueMail(context, membershipId, waiting.baseUrl, options);
  if (issued === undefined) return;
  const isSent = await mailer.send(issued.mail).then(
    () => true,
    () => false,
  );
  await store.transact(async (tx) => {
    const current = await invitationMails.find(tx, membershipId);
    if (!isSent) await removeToken(tx, issued.userId, issued.tokenId);
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

/** Sends the mails that wait. The token of a mail that was not sent is removed. */
export const sendInvitations = async (
  context: IdentityContext,
  options: TransactOptions,
): Promise<void> => {
  for (const id of await invitationMails.keys(context.store, [])) {
    await unlessDamaged(sendOne(context, id, options));
  }
};
