/** The page to which a provider of identities sends the browser back. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import { Problem, useTitle } from '../components/page.tsx';
import { PasscodeForm } from './passcode-form.tsx';
import {
  finishProviderLogin,
  PROVIDER_RETURN_PATH,
  type ProviderLogin,
} from './sign-in-methods.ts';

/** Ends the login, and leaves no trace of it in the history of the tab. */
export const ProviderReturnPage = () => {
  useTitle('Sign in');
  const answer = useSearch({ from: PROVIDER_RETURN_PATH });
  const navigate = useNavigate();
  const [waiting, setWaiting] = useState<ProviderLogin>();
  const show = (page: string): Promise<void> => navigate({ to: page, replace: true });
  const { run, error } = useAction(
    () => finishProviderLogin(answer),
    (login) => (login.factor === undefined ? show(login.returnTo) : setWaiting(login)),
  );
  useEffect(() => run(), []);
  if (waiting?.factor !== undefined)
    return (
      <main className="login card">
        <h1>Sign in</h1>
        <div className="ways">
          <PasscodeForm factor={waiting.factor} onDone={() => show(waiting.returnTo)} />
        </div>
      </main>
    );
  return (
    <main className="login card">
      <h1>Sign in</h1>
      {error === null ? (
        <p role="status">The sign-in is being completed.</p>
      ) : (
        <>
          <Problem>You are not signed in: {messageOf(error)}.</Problem>
          <Link to="/ui/" replace>
            Try again
          </Link>
        </>
      )}
    </main>
  );
};
