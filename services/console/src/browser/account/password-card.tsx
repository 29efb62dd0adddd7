import type { FormEvent } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import { callWorkspaces } from '../api/workspaces-api.ts';
import { fieldsOf } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { Input, Label, Pair } from '../components/fields.tsx';
import { Card, Problem } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { Hint } from '../components/text.tsx';

const bodyOf = (current: string, next: string): object => ({
  data: {
    type: 'users',
    attributes: { current_password: current, password: next, password_confirmation: next },
  },
});

const MAIL_LINK = <PageLink to="/app/new-password">the link of a mail</PageLink>;

const ChangePassword = ({ username, hasReset }: { username: string; hasReset: boolean }) => {
  const action = useAction(
    ({ current, next }: { current: string; next: string }) =>
      callWorkspaces('PATCH', 'account/password', { body: bodyOf(current, next) }),
    undefined,
    () => 'The password is changed, and your other sessions have ended.',
  );
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const { text } = fieldsOf(event.currentTarget);
    action.run({ current: text('current'), next: text('next') });
    event.currentTarget.reset();
  };
  return (
    <form onSubmit={submit} aria-label="Change the password">
      {action.error !== null && <Problem>{messageOf(action.error)}</Problem>}
      <Input type="hidden" name="username" autoComplete="username" value={username} readOnly />
      <Pair>
        <Label>
          Current password
          <Input name="current" type="password" autoComplete="current-password" required />
        </Label>
        <Label>
          New password
          <Input
            name="next"
            type="password"
            autoComplete="new-password"
            minLength={12}
            maxLength={1024}
            required
          />
        </Label>
      </Pair>
      <Hint>
        At least 12 characters.{hasReset && <> A forgotten one is replaced by {MAIL_LINK}.</>}
      </Hint>
      <Button type="submit" look="primary" disabled={action.isPending}>
        Change password
      </Button>
      <Commands commands={[workspacesCurl('PATCH', 'account/password', bodyOf('…', '…'))]} />
    </form>
  );
};

/** Changes the password of an account that has one. A first one is set by the link of a mail. */
export const PasswordCard = (props: {
  username: string;
  hasPassword: boolean;
  /** Whether a link for a new password is sent by mail. */
  hasReset: boolean;
}) => {
  const { username, hasPassword, hasReset } = props;
  if (!hasPassword && !hasReset) return null;
  return (
    <Card title="Password">
      {hasPassword ? (
        <ChangePassword username={username} hasReset={hasReset} />
      ) : (
        <p>The account has none. It gets one by {MAIL_LINK}.</p>
      )}
    </Card>
  );
};
