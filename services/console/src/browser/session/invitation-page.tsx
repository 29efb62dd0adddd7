/** The page that the link of an invitation opens, for somebody without a session. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import { changeSession, readSession } from '../api/session.ts';
import { callWorkspaces, type OneDocument } from '../api/workspaces-api.ts';
import type { ApiToken } from '../components/api-tokens.tsx';
import { formatTime } from '../components/format.ts';
import { Problem, useTitle } from '../components/page.tsx';
import { ShownOnce } from '../components/shown-once.tsx';

interface Invitation {
  readonly email: string;
  readonly username: string;
  readonly 'invited-by': string | null;
  readonly 'expires-at': string | null;
}

const Offer = (props: { code: string; onAccepted: (token: string) => void }) => {
  const { code: token } = props;
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
  if (found === undefined) return <p role="status">The invitation is being read.</p>;
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
        Accepting opens the account <strong>{username}</strong> for {email} and shows its first API
        token. The link works once{ends !== null && `, until ${formatTime(ends)}`}.
      </p>
      {action.error !== null && <Problem>{messageOf(action.error)}</Problem>}
      <button
        type="button"
        className="primary"
        disabled={action.isPending}
        onClick={() => action.run()}
      >
        Accept the invitation
      </button>
    </>
  );
};

/** Shows who invites to what, and on acceptance a first token of the account. */
export const InvitationPage = () => {
  useTitle('Invitation');
  const [code] = useState(() => location.hash.slice(1));
  const [token, setToken] = useState<string>();
  return (
    <main className="login card">
      <h1>Invitation</h1>
      {token === undefined ? (
        <Offer code={code} onAccepted={setToken} />
      ) : (
        <>
          <p>You are a member now. This is the first API token of your account:</p>
          <ShownOnce what="the new token" secret={token}>
            Keep it, and create another one within 30 days, when it ends.
          </ShownOnce>
          <Link to="/app" onClick={() => changeSession({ ...readSession(), workspaces: token })}>
            Sign in with it
          </Link>
        </>
      )}
    </main>
  );
};
