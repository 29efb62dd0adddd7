/** The permissions of the caller for the own account, by the token that asks: a page offers nothing else. */
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import { findSignInSettings, hasSignIn, passwordRecords } from '../model/credential-records.ts';
import { isSession } from '../model/token-records.ts';

export interface OwnPermissions {
  readonly canChangeEmail: boolean;
  readonly canChangePassword: boolean;
  readonly canChangeTwoFactor: boolean;
  readonly canChangePasskeys: boolean;
}

/** The permissions of a user for the own account: by what the token is, and by how the account signs in. */
export const loadOwnPermissions = async (
  reads: Reads,
  { id, tokenId }: Principal,
): Promise<OwnPermissions> => {
  const isSignedIn = await isSession(reads, tokenId);
  const hasPassword = (await passwordRecords.find(reads, id)) !== undefined;
  const { passwordsEnabled } = await findSignInSettings(reads);
  return {
    // Where nobody signs in, tokens open everything already.
    canChangeEmail: isSignedIn || !(await hasSignIn(reads)),
    canChangePassword: hasPassword && passwordsEnabled,
    canChangeTwoFactor: hasPassword && isSignedIn,
    canChangePasskeys: isSignedIn,
  };
};
