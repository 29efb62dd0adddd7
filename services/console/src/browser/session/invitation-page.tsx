/** The page that the link of an invitation opens, for somebody without a session. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { beginSession } from '../api/session.ts';
import { callWorkspaces, type OneDocument } from '../api/workspaces-api.ts';
import type { ApiToken } from '../components/api-tokens.tsx';
import { Button } from '../components/button.tsx';
import { formatTime } from '../components/format.ts';
import { Problem, useTitle } from '../components/page.tsx';
import { ShownOnce } from '../components/shown-once.tsx';
import { accountOf } from './account-of.ts';
import { acceptWithPasskey } from './account-passkey.ts';
import { enterAccount, useAccountMethods } from './account-sign-in.ts';
import { LoginCard, Ways } from './login-card.tsx';
import { PasswordFields } from './password-fields.tsx';
import { leaveForSingleSignOn } from './single-sign-on.ts';

interface Invitation {
  readonly email: string;
  readonly username: string;
  readonly 'invited-by': string | null;
  readonly 'expires-at': string | null;
}

/** Accepts with a password for the account, which signs in. */
const SetPassword = ({ code: token, username }: { code: string; username: string }) => {
  const navigate = useNavigate();
  const action = useAction(
    async (password: string) => {
      const { data } = await callWorkspaces<OneDocument<ResourceAttributes['sessions']>>(
        'POST',
        'invitation/actions/set-password',
        { token, body: { data: { type: 'invitations', attributes: { password } } } },
      );
      await enterAccount(data.attributes.token ?? '');
    },
    () => void navigate({ to: '/app' }),
  );
  return (
    <PasswordFields
      label="Accept with a password"
      username={username}
      submit="Accept and sign in"
      action={action}
    />
  );
};

/** Accepts with a passkey for the account, which signs in. */
const MakePasskey = ({ code }: { code: string }) => {
  const navigate = useNavigate();
  const action = useAction(
    () => acceptWithPasskey(code),
    () => void navigate({ to: '/app' }),
  );
  return (
    <>
      {action.error !== null && <Problem>{messageOf(action.error)}</Problem>}
      <Button disabled={action.isPending} onClick={() => action.run()}>
        Accept with a passkey
      </Button>
    </>
  );
};

/** Accepts by a sign-in at the provider of identities, which knows who has the address. */
const SignInAtProvider = ({ title }: { title: string }) => {
  const action = useAction(() => leaveForSingleSignOn('/app'));
  return (
    <>
      {action.error !== null && <Problem>{messageOf(action.error)}</Problem>}
      <Button disabled={action.isPending} onClick={() => action.run()}>
        Accept with {title}
      </Button>
    </>
  );
};

const Offer = (props: { code: string; onAccepted: (token: string) => void }) => {
  const { code: token } = props;
  const methods = useAccountMethods();
  const { data: found, error } = useQuery({
    queryKey: ['invitation'],
    queryFn: () => callWorkspaces<OneDocument<Invitation>>('GET', 'invitation', { token }),
    retry: false,
  });
  const action = useAction(async () => {
    const path = 'invitation/actions/accept';
    const { data } = await callWorkspaces<OneDocument<ApiToken>>('POST', path, { token });
    props.onAccepted(data.attributes.token ?? '');
  });
  if (error !== null)
    return (
      <Problem>
        This link does not open an invitation: it works once and for 7 days, and ends when the
        invitation is withdrawn. Ask for another one. ({messageOf(error)})
      </Problem>
    );
  if (found === undefined || methods.isPending)
    return <p role="status">The invitation is being read.</p>;
  const hasPasswords = methods.data?.password === true;
  const hasPasskeys = methods.data?.passkey === true;
  const provider = methods.data?.['single-sign-on'] ?? null;
  const signsIn = hasPasswords || hasPasskeys || provider !== null;
  const { relationships, attributes } = found.data;
  const organization = relationships?.['organization']?.data as { id: string } | undefined;
  const { email, username, 'invited-by': by, 'expires-at': ends } = attributes;
  return (
    <>
      <p>
        {by === null ? 'You are invited' : `${by} invites you`} to the organization{' '}
        <strong>{organization?.id}</strong>.
      </p>
      <p>
        Accepting opens the account <strong>{username}</strong> for {email}
        {signsIn ? '.' : ' and shows its first API token.'} The link works once
        {ends !== null && `, until ${formatTime(ends)}`}.
      </p>
      {hasPasswords && <SetPassword code={token} username={username} />}
      <Ways>
        {provider !== null && <SignInAtProvider title={provider} />}
        {hasPasskeys && <MakePasskey code={token} />}
        {action.error !== null && <Problem>{messageOf(action.error)}</Problem>}
        <Button
          look={signsIn ? undefined : 'primary'}
          disabled={action.isPending}
          onClick={() => action.run()}
        >
          {signsIn ? 'Accept with an API token alone' : 'Accept the invitation'}
        </Button>
      </Ways>
    </>
  );
};

const SignInWith = ({ token }: { token: string }) => {
  const navigate = useNavigate();
  const action = useAction(
    async () => beginSession({ workspaces: token }, await accountOf(token)),
    () => void navigate({ to: '/app' }),
  );
  return (
    <>
      <Button disabled={action.isPending} onClick={() => action.run()}>
        Sign in with it
      </Button>
      {action.error !== null && <Problem>{messageOf(action.error)}</Problem>}
    </>
  );
};

/** Shows who invites to what; accepting sets a password, or shows a first token of the account. */
export const InvitationPage = () => {
  useTitle('Invitation');
  const [code] = useState(() => location.hash.slice(1));
  const [token, setToken] = useState<string>();
  return (
    <LoginCard title="Invitation">
      {token === undefined ? (
        <Offer code={code} onAccepted={setToken} />
      ) : (
        <>
          <p>You are a member now. This is the first API token of your account:</p>
          <ShownOnce what="the new token" secret={token}>
            Keep it, and create another one within 30 days, when it ends.
          </ShownOnce>
          <SignInWith token={token} />
        </>
      )}
    </LoginCard>
  );
};
