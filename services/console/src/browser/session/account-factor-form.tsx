import { type FormEvent, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import { fieldsOf } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { Input, Label } from '../components/fields.tsx';
import { Problem } from '../components/page.tsx';
import { type AccountFactor, type GivenFactor, giveFactor } from './account-sign-in.ts';

/** The second half of a sign-in with an account: a passcode, or a recovery code where the app is lost. */
export const AccountFactorForm = ({ factor }: { factor: AccountFactor }) => {
  const [isRecovery, setRecovery] = useState(false);
  const action = useAction((given: GivenFactor) => giveFactor(factor, given));
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const code = fieldsOf(event.currentTarget).text('code').trim();
    action.run(isRecovery ? { 'recovery-code': code } : { passcode: code });
  };
  return (
    <form onSubmit={submit} aria-label="Second factor">
      {action.error !== null && (
        <Problem>
          {isRecovery ? 'The recovery code' : 'The passcode'} {messageOf(action.error)}
        </Problem>
      )}
      <p>
        {isRecovery
          ? 'Type one of the recovery codes that you kept when you set up two-factor authentication. Each works once.'
          : 'Open your authenticator app, and type the passcode that it shows for this installation.'}
      </p>
      <Label key={String(isRecovery)}>
        {isRecovery ? 'Recovery code' : 'Passcode'}
        <Input
          name="code"
          autoComplete={isRecovery ? 'off' : 'one-time-code'}
          inputMode={isRecovery ? 'text' : 'numeric'}
          maxLength={isRecovery ? 64 : 16}
          required
        />
      </Label>
      <Button type="submit" look="primary" disabled={action.isPending}>
        {action.isPending ? 'Signing in…' : 'Sign in'}
      </Button>
      <Button
        look="link"
        onClick={() => {
          action.reset();
          setRecovery(!isRecovery);
        }}
      >
        {isRecovery ? 'Use a passcode' : 'Use a recovery code'}
      </Button>
    </form>
  );
};
