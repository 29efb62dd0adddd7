import type { FormEvent, ReactNode } from 'react';
import { messageOf } from '../api/api-problem.ts';
import type { Action } from '../api/queries.ts';
import { fieldsOf } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { Input, Label } from '../components/fields.tsx';
import { Problem } from '../components/page.tsx';
import { Hint } from '../components/text.tsx';

/** Asks for a new password. Password managers make and keep one for the name. */
export const PasswordFields = (props: {
  /** Accessible name of the form. */
  label: string;
  username: string;
  /** Label of its button. */
  submit: string;
  action: Action<string>;
  children?: ReactNode;
}) => {
  const { label, username, action } = props;
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    action.run(fieldsOf(event.currentTarget).text('password'));
  };
  return (
    <form onSubmit={submit} aria-label={label}>
      {action.error !== null && <Problem>{messageOf(action.error)}</Problem>}
      <Input type="hidden" name="username" autoComplete="username" value={username} readOnly />
      <Label>
        New password
        <Input
          name="password"
          type="password"
          autoComplete="new-password"
          minLength={12}
          maxLength={1024}
          required
        />
      </Label>
      <Hint>At least 12 characters. Several words are easy to remember.</Hint>
      <Button type="submit" look="primary" disabled={action.isPending}>
        {props.submit}
      </Button>
    </form>
  );
};
