import { messageOf } from '../api/api-problem.ts';
import { Problem } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { LoginCard } from './login-card.tsx';

/** A sign-in that a browser has come back with: it is being completed, or was refused with a reason. */
export const SignInReturn = (props: {
  error: Error | null;
  /** Where the next attempt begins. */
  startPage: '/app' | '/ui/';
}) => (
  <LoginCard title="Sign in">
    {props.error === null ? (
      <p role="status">The sign-in is being completed.</p>
    ) : (
      <>
        <Problem>You are not signed in: {messageOf(props.error)}.</Problem>
        <PageLink to={props.startPage} replace>
          Try again
        </PageLink>
      </>
    )}
  </LoginCard>
);
