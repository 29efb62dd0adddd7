import { callSecrets } from '../api/secrets-api.ts';
import { readSession, signOut } from '../api/session.ts';
import { callWorkspaces } from '../api/workspaces-api.ts';

/** Ends the session, and the tokens of sign-ins with it, which nobody else has. */
export const leaveSession = (reason?: string): void => {
  const { secrets, isOwnLogin, workspaces, isOwnSession } = readSession();
  // A token that cannot be revoked now ends by its lifetime.
  signOut(reason, [
    ...(secrets !== undefined && isOwnLogin === true
      ? [callSecrets('POST', 'auth/token/revoke-self')]
      : []),
    ...(workspaces !== undefined && isOwnSession === true
      ? [callWorkspaces('DELETE', 'account/session')]
      : []),
  ]);
};
