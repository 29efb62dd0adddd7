import { callSecrets } from '../api/secrets-api.ts';
import { readSession, signOut } from '../api/session.ts';
import { callWorkspaces } from '../api/workspaces-api.ts';

/** Ends the session, and the tokens of sign-ins with it, which nobody else has. */
export const leaveSession = (): void => {
  const { secrets, isOwnLogin, workspaces, isOwnSession, namespace } = readSession();
  signOut();
  // A token that cannot be revoked now ends by its lifetime.
  if (secrets !== undefined && isOwnLogin === true)
    callSecrets('POST', 'auth/token/revoke-self', { token: secrets, namespace }).catch(
      () => undefined,
    );
  if (workspaces !== undefined && isOwnSession === true)
    callWorkspaces('DELETE', 'account/session', { token: workspaces }).catch(() => undefined);
};
