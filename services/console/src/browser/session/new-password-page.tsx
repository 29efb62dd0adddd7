/** The page on which a link for a new password is asked for, and which that link opens. */
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { callWorkspaces, type OneDocument } from '../api/workspaces-api.ts';
import { fieldsOf } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { ChoiceLabel, Input, Label } from '../components/fields.tsx';
import { Problem, useTitle } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { useAccountMethods } from './account-sign-in.ts';
import { LoginCard } from './login-card.tsx';
import { PasswordFields } from './password-fields.tsx';

const AskForLink = () => {
  const [isAsked, setAsked] = useState(false);
  const action = useAction(
    (email: string) =>
      callWorkspaces('POST', 'password-resets', {
        token: '',
        body: { data: { type: 'password-resets', attributes: { email } } },
      }),
    () => setAsked(true),
  );
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    action.run(fieldsOf(event.currentTarget).text('email').trim());
  };
  if (isAsked)
    return (
      <p role="status">
        If an account has this address, a mail with a link is on its way. The link works once and
        for an hour.
      </p>
    );
  return (
    <form onSubmit={submit} aria-label="Ask for a link">
      {action.error !== null && <Problem>{messageOf(action.error)}</Problem>}
      <p>You get a mail with a link, by which you set a new password.</p>
      <Label>
        Mail address of your account
        <Input name="email" type="email" autoComplete="email" maxLength={255} required />
      </Label>
      <Button type="submit" look="primary" disabled={action.isPending}>
        Send me a link
      </Button>
    </form>
  );
};

const FollowLink = ({ code: token }: { code: string }) => {
  const [isSet, setSet] = useState(false);
  const [hasLostPasskeys, setLostPasskeys] = useState(false);
  const methods = useAccountMethods();
  const { data: found, error } = useQuery({
    queryKey: ['password-reset'],
    queryFn: () =>
      callWorkspaces<OneDocument<ResourceAttributes['password-resets']>>('GET', 'password-reset', {
        token,
      }),
    retry: false,
    // Once the link is used, it opens nothing.
    enabled: !isSet,
  });
  const lost = hasLostPasskeys ? { 'removes-passkeys': true } : {};
  const action = useAction(
    (password: string) =>
      callWorkspaces('POST', 'password-reset/actions/set-password', {
        token,
        body: { data: { type: 'password-resets', attributes: { password, ...lost } } },
      }),
    () => setSet(true),
  );
  if (isSet)
    return (
      <>
        <p role="status">The password is set, and every session of the account has ended.</p>
        <PageLink to="/app">Sign in</PageLink>
      </>
    );
  if (error !== null)
    return (
      <>
        <Problem>
          This link sets no password: it works once and for an hour, and ends with the next one. (
          {messageOf(error)})
        </Problem>
        <AskForLink />
      </>
    );
  if (found === undefined) return <p role="status">The link is being read.</p>;
  const { username } = found.data.attributes;
  return (
    <>
      <p>
        The new password of the account <strong>{username}</strong>:
      </p>
      {methods.data?.passkey === true && (
        <ChoiceLabel>
          <input
            type="checkbox"
            checked={hasLostPasskeys}
            onChange={({ target }) => setLostPasskeys(target.checked)}
          />{' '}
          I have lost my passkeys: remove them
        </ChoiceLabel>
      )}
      <PasswordFields
        label="Set a new password"
        username={username}
        submit="Set the password"
        action={action}
      />
    </>
  );
};

export const NewPasswordPage = () => {
  useTitle('New password');
  const [code] = useState(() => location.hash.slice(1));
  return (
    <LoginCard title="New password">
      {code === '' ? <AskForLink /> : <FollowLink code={code} />}
    </LoginCard>
  );
};
