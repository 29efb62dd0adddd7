import { Link } from '@tanstack/react-router';
import { messageOf } from '../api/api-problem.ts';
import { Problem } from '../components/page.tsx';

/** A sign-in that a browser has come back with: it is being completed, or was refused with a reason. */
export const SignInReturn = (props: {
  error: Error | null;
  /** Where the next attempt begins. */
  startPage: '/app' | '/ui/';
}) => (
  <main className="login card">
    <h1>Sign in</h1>
    {props.error === null ? (
      <p role="status">The sign-in is being completed.</p>
    ) : (
      <>
        <Problem>You are not signed in: {messageOf(props.error)}.</Problem>
        <Link to={props.startPage} replace>
          Try again
        </Link>
      </>
    )}
  </main>
);
