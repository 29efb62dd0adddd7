/** Requests of the sign-in page that are under way while its scripts run: its form is then there when it is drawn. */
import type { QueryClient } from '@tanstack/react-query';
import { isSignedIn, readSession } from '../api/session.ts';
import { ACCOUNT_METHODS } from './account-sign-in.ts';
import { signInMethodsIn } from './sign-in-methods.ts';
import { HEALTH } from './use-health.ts';

export const readSignInPage = (client: QueryClient): void => {
  const session = readSession();
  if (isSignedIn(session)) return;
  void client.prefetchQuery(signInMethodsIn(session.namespace));
  void client.prefetchQuery(ACCOUNT_METHODS);
  void client.prefetchQuery(HEALTH);
};
