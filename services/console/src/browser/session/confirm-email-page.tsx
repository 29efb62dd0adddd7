/** The page that the link in a mail to a new address opens, with or without a session. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { callWorkspaces, type OneDocument } from '../api/workspaces-api.ts';
import { Button } from '../components/button.tsx';
import { formatTime } from '../components/format.ts';
import { Problem, useTitle } from '../components/page.tsx';
import { LoginCard } from './login-card.tsx';

type Confirmation = ResourceAttributes['email-confirmations'];

const Question = (props: { code: string; onConfirmed: (email: string) => void }) => {
  const { code: token } = props;
  const { data: found, error } = useQuery({
    queryKey: ['email-confirmation'],
    queryFn: () =>
      callWorkspaces<OneDocument<Confirmation>>('GET', 'email-confirmation', { token }),
    retry: false,
  });
  const action = useAction(async () => {
    await callWorkspaces('POST', 'email-confirmation/actions/confirm', { token });
    props.onConfirmed(found?.data.attributes.email ?? '');
  });
  if (error !== null)
    return (
      <Problem>
        This link confirms no address: it works once and for 7 days, and ends when the account gives
        another address. ({messageOf(error)})
      </Problem>
    );
  if (found === undefined) return <p role="status">The address is being read.</p>;
  const { email, username, 'expires-at': ends } = found.data.attributes;
  return (
    <>
      <p>
        The account <strong>{username}</strong> says that <strong>{email}</strong> is its mail
        address.
      </p>
      <p>
        Confirm only if the account is yours: it will get the invitations to this address. The link
        works once{ends !== null && `, until ${formatTime(ends)}`}.
      </p>
      {action.error !== null && <Problem>{messageOf(action.error)}</Problem>}
      <Button look="primary" disabled={action.isPending} onClick={() => action.run()}>
        Confirm my account
      </Button>
    </>
  );
};

/** Shows which account gave the address, and confirms it. */
export const ConfirmEmailPage = () => {
  useTitle('Mail address');
  const [code] = useState(() => location.hash.slice(1));
  const [email, setEmail] = useState<string>();
  return (
    <LoginCard title="Mail address">
      {email === undefined ? (
        <Question code={code} onConfirmed={setEmail} />
      ) : (
        <p>{email} is the mail address of your account now.</p>
      )}
    </LoginCard>
  );
};
