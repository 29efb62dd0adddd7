/** The page to which the provider of identities of the site sends the browser back. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import { Problem, useTitle } from '../components/page.tsx';
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
  return (
    <main className="login card">
      <h1>Sign in</h1>
      {error === null ? (
        <p role="status">The sign-in is being completed.</p>
      ) : (
        <>
          <Problem>You are not signed in: {messageOf(error)}.</Problem>
          <Link to="/app" replace>
            Try again
          </Link>
        </>
      )}
    </main>
  );
};
