import type { FormEvent, ReactNode } from 'react';
import { messageOf } from '../api/api-problem.ts';
import type { Action } from '../api/queries.ts';
import { fieldsOf } from '../components/action-button.tsx';
import { Problem } from '../components/page.tsx';

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
      <input type="hidden" name="username" autoComplete="username" value={username} readOnly />
      <label>
        New password
        <input
          name="password"
          type="password"
          autoComplete="new-password"
          minLength={12}
          maxLength={1024}
          required
        />
      </label>
      <p className="hint">At least 12 characters. Several words are easy to remember.</p>
      <button type="submit" className="primary" disabled={action.isPending}>
        {props.submit}
      </button>
    </form>
  );
};
