/**
 * Whether a caller has come with two factors.
 *
 * | token | it has, where |
 * | --- | --- |
 * | session of a password | the account has a second factor, which the sign-in has asked for |
 * | session of the provider of identities | the provider has asked for one: always, as the site says, or this time, as it has signed |
 * | session of a passkey | always: the authenticator, and the finger or PIN that it asks for |
 * | API token | the account has one, or signs in only at a provider that always asks, unless the token was made with less |
 */
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import { findSsoSettings, passwordRecords } from '../model/credential-records.ts';
import type { Organization } from '../model/domain/organization.ts';
import { findToken } from '../model/token-records.ts';
import { type User, userRecords } from '../model/user-records.ts';

const providerAlwaysAsks = async (reads: Reads): Promise<boolean> => {
  const settings = await findSsoSettings(reads);
  return settings?.enabled === true && settings.hasTwoFactor;
};

/** Whether the user signs in only at a provider of identities that asks for a second factor. */
const hasProviderFactor = async (reads: Reads, user: User | undefined): Promise<boolean> => {
  if (user?.hasSingleSignOn !== true) return false;
  if (!(await providerAlwaysAsks(reads))) return false;
  return (await passwordRecords.find(reads, user.id)) === undefined;
};

/** Whether a token says by itself that its user came with two factors, or did not; undefined if the account decides. */
const decidedByToken = async (reads: Reads, tokenId: string): Promise<boolean | undefined> => {
  const token = await findToken(reads, tokenId);
  if (token?.hasTwoFactors === true) return true;
  if (token?.hasOneFactor === true) return false;
  return token?.isSingleSignOn === true ? providerAlwaysAsks(reads) : undefined;
};

/** Whether a token that the caller makes was made without a second factor, whatever the account has. */
export const comesWithOneFactor = async (reads: Reads, tokenId: string): Promise<boolean> =>
  (await decidedByToken(reads, tokenId)) === false;

/** Whether a user has come with two factors. */
export const hasSecondFactor = async (
  reads: Reads,
  { id, tokenId }: Pick<Principal, 'id' | 'tokenId'>,
): Promise<boolean> => {
  const decided = await decidedByToken(reads, tokenId);
  if (decided !== undefined) return decided;
  const user = await userRecords.find(reads, id);
  return user?.hasSecondFactor === true || hasProviderFactor(reads, user);
};

/** Whether a user has no access because the organization asks for a second factor, with which the user has not come. */
export const isWithoutSecondFactor = async (
  reads: Reads,
  principal: Principal,
  { settings }: Organization,
): Promise<boolean> =>
  principal.kind === 'user' &&
  settings.collaboratorAuthPolicy === 'two_factor_mandatory' &&
  !(await hasSecondFactor(reads, principal));
