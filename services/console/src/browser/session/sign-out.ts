import { callSecrets } from '../api/secrets-api.ts';
import { readSession, signOut } from '../api/session.ts';

/** Ends the session, and the token of a login with it, which nobody else has. */
export const leaveSession = (): void => {
  const { secrets: token, isOwnLogin, namespace } = readSession();
  signOut();
  if (token === undefined || isOwnLogin !== true) return;
  // A token that cannot be revoked now ends by its lifetime.
  callSecrets('POST', 'auth/token/revoke-self', { token, namespace }).catch(() => undefined);
};
