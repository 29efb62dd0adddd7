/** The invitation that a link opens, and its acceptance. */
import type { RegistrationOptions } from '@keelson/passkeys';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import type { ApiToken } from '../model/domain/token.ts';
import { organizationRecords } from '../model/organization-records.ts';
import { findMembershipPlace, invitations } from '../model/team-records.ts';
import { findToken } from '../model/token-records.ts';
import { userRecords } from '../model/user-records.ts';
import {
  beginRegistration,
  type NewOwnPasskey,
  storePasskey,
} from '../passkeys/passkey-account-operations.ts';
import { BY_PASSKEY } from '../passkeys/passkey-sign-in-operations.ts';
import {
  hashFor,
  requirePasswordsEnabled,
  storePassword,
} from '../passwords/password-operations.ts';
import { activateUser } from '../tokens/first-use-operations.ts';
import { issueSession } from '../tokens/session-operations.ts';
import { endWithin } from '../tokens/token-expiry-operations.ts';
import { type IssuedToken, issueToken } from '../tokens/token-operations.ts';
import { loadMembershipView, type MembershipView } from './membership-list-operations.ts';

/** Lifetime of the token that an acceptance gives. */
const FIRST_TOKEN_DAYS = 30;
const DAY_MS = 24 * 3600 * 1000;

export interface InvitationView {
  readonly view: MembershipView;
  /** Name of the user who invited; null where a token of the organization or a team did. */
  readonly invitedBy: string | null;
  readonly code: ApiToken;
}

/**
 * The invitation whose link the caller has followed.
 * @throws KeelsonError `workspace.not_found` for every other caller, and for an accepted invitation
 */
export const requireInvitation = async (
  reads: Reads,
  { kind, id, tokenId }: Principal,
): Promise<InvitationView> => {
  const code = kind === 'invitation' ? await findToken(reads, tokenId) : undefined;
  const place = code && (await findMembershipPlace(reads, id));
  const organization = place && (await organizationRecords.find(reads, place.organizationId));
  const view = organization && (await loadMembershipView(reads, organization, place.userId));
  const open = place && (await invitations.find(reads, place.organizationId, place.userId));
  if (code === undefined || view === undefined || open === undefined) throw notFound('invitation');
  const inviter = open.invitedById && (await userRecords.find(reads, open.invitedById));
  return { view, invitedBy: inviter ? inviter.username : null, code };
};

/**
 * Accepts the invitation with a password for the account, and signs the invited person in.
 * @throws KeelsonError `workspace.passwords_off`, `jsonapi.invalid_attribute`
 */
export const acceptWithPassword = async (
  context: ServiceContext,
  principal: Principal,
  password: string,
  userAgent: string,
): Promise<IssuedToken> => {
  const { store, clock } = context;
  await requirePasswordsEnabled(store);
  const invited = await requireInvitation(store, principal);
  const hash = await hashFor(invited.view.user, password);
  return store.transact(async (tx) => {
    const { user } = (await requireInvitation(tx, principal)).view;
    await activateUser(tx, user);
    await storePassword(context, tx, user, hash);
    return issueSession(tx, user.id, userAgent, clock.nowMs());
  });
};

const subjectOf = ({ tokenId }: Principal): string => `invitation/${tokenId}`;

/** Begins to accept the invitation with a passkey. Nothing is stored. */
export const beginPasskeyOfInvited = async (
  context: ServiceContext,
  principal: Principal,
): Promise<RegistrationOptions> => {
  const { view } = await requireInvitation(context.store, principal);
  return beginRegistration(context, view.user, subjectOf(principal));
};

/**
 * Accepts the invitation with a passkey for the account, and signs the invited person in.
 * @throws KeelsonError `workspace.passkeys_off`, `jsonapi.invalid_attribute`
 */
export const acceptWithPasskey = (
  context: ServiceContext,
  principal: Principal,
  given: NewOwnPasskey,
  userAgent: string,
): Promise<IssuedToken> =>
  context.store.transact(async (tx) => {
    const { user } = (await requireInvitation(tx, principal)).view;
    await storePasskey(context, tx, user, subjectOf(principal), given);
    await activateUser(tx, user);
    return issueSession(tx, user.id, userAgent, context.clock.nowMs(), BY_PASSKEY);
  });

/**
 * Accepts the invitation: the account becomes active, the link ends, and the invited person gets a first token
 * of the account.
 */
export const acceptInvitation = (
  { store, clock }: ServiceContext,
  principal: Principal,
): Promise<IssuedToken> =>
  store.transact(async (tx) => {
    const { view } = await requireInvitation(tx, principal);
    const { user, organization } = view;
    await activateUser(tx, user);
    const nowMs = clock.nowMs();
    const owner = { kind: 'user', id: user.id } as const;
    const given = {
      description: `Invitation to ${organization.name}`,
      expiresAtMs: await endWithin(tx, owner, FIRST_TOKEN_DAYS * DAY_MS, nowMs),
    };
    return issueToken(tx, owner, given, user.id, nowMs);
  });
