/** The page to which the provider of identities of the site sends the browser back. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useAction } from '../api/queries.ts';
import { useTitle } from '../components/page.tsx';
import { SignInReturn } from './sign-in-return.tsx';
import { finishSingleSignOn, SSO_RETURN_PATH } from './single-sign-on.ts';

/** Ends the sign-in, and leaves no trace of it in the history of the tab. */
export const SsoReturnPage = () => {
  useTitle('Sign in');
  const answer = useSearch({ from: SSO_RETURN_PATH });
  const navigate = useNavigate();
  const { run, error } = useAction(
    () => finishSingleSignOn(answer),
    (returnTo) => navigate({ to: returnTo, replace: true }),
  );
  useEffect(() => run(), []);
  return <SignInReturn error={error} startPage="/app" />;
};
