/** The page that a client of OpenID Connect opens, from which the person goes back to the client, signed in. */
import { useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { FormActions } from '../components/fields.tsx';
import { Card, Page, Problem } from '../components/page.tsx';
import {
  askForCode,
  askToSignInAgain,
  CLIENT_SIGN_IN_PATH,
  type ClientAnswer,
  type ClientRequest,
  mustAgree,
} from './client-sign-in.ts';
import { leaveSession } from './sign-out.ts';

const refusalOf = ({ error, error_description: text, errors = [] }: ClientAnswer): string =>
  text ?? error ?? errors.join('; ');

const Answer = (props: { provider: string; request: ClientRequest }) => {
  const { provider, request } = props;
  const { person } = useSession();
  const [refusal, setRefusal] = useState<string>();
  const action = useAction(
    () => askForCode(provider, request),
    (answer) => {
      // In place of this page, so that going back does not ask again.
      if (answer.redirect_to !== undefined) return location.replace(answer.redirect_to);
      if (answer.error !== 'max_age_violation') return setRefusal(refusalOf(answer));
      return askToSignInAgain();
    },
  );
  const waits = mustAgree(request);
  useEffect(() => {
    if (!waits) action.run();
  }, []);
  const problem = refusal ?? (action.error === null ? undefined : messageOf(action.error));
  if (problem !== undefined)
    return (
      <>
        <Problem>You cannot be signed in to the application: {problem}.</Problem>
        <FormActions>
          <Button onClick={() => leaveSession()}>Sign in as somebody else</Button>
        </FormActions>
      </>
    );
  return waits ? (
    <>
      <p>
        An application asks who you are. It learns what the administrators have set for it
        {person === undefined ? '' : `, as ${person}`}.
      </p>
      <FormActions>
        <Button look="primary" disabled={action.isPending} onClick={() => action.run()}>
          Sign in to the application
        </Button>
      </FormActions>
    </>
  ) : (
    <p role="status">You are being signed in to the application.</p>
  );
};

export const ClientSignInPage = () => {
  const { provider } = useParams({ from: CLIENT_SIGN_IN_PATH });
  const request = useSearch({ from: CLIENT_SIGN_IN_PATH });
  return (
    <Page title="Sign in to an application">
      <Card>
        <Answer provider={provider} request={request} />
      </Card>
    </Page>
  );
};
