/** The page to which a provider of identities sends the browser back. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useAction } from '../api/queries.ts';
import { useTitle } from '../components/page.tsx';
import { FactorForm } from './factor-form.tsx';
import { LoginCard, Ways } from './login-card.tsx';
import {
  finishProviderLogin,
  PROVIDER_RETURN_PATH,
  type ProviderLogin,
} from './sign-in-methods.ts';
import { SignInReturn } from './sign-in-return.tsx';

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
      <LoginCard title="Sign in">
        <Ways>
          <FactorForm factor={waiting.factor} onDone={() => show(waiting.returnTo)} />
        </Ways>
      </LoginCard>
    );
  return <SignInReturn error={error} startPage="/ui/" />;
};
