import { type FormEvent, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import { fieldsOf } from '../components/action-button.tsx';
import { Problem } from '../components/page.tsx';
import type { OnFactor } from './second-factor.ts';
import { type SignInMethod, signInWithPassword } from './sign-in-methods.ts';

/** Asks for the name and password of a user of one of the methods. */
export const PasswordForm = (props: {
  methods: readonly [SignInMethod, ...SignInMethod[]];
  onFactor: OnFactor;
}) => {
  const { methods, onFactor } = props;
  const [path, setPath] = useState(methods[0].path);
  const method = methods.find((one) => one.path === path) ?? methods[0];
  const action = useAction(
    (given: { name: string; password: string }) => signInWithPassword(method, given),
    onFactor,
  );
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const { text } = fieldsOf(event.currentTarget);
    action.run({ name: text('name').trim(), password: text('password') });
  };
  return (
    <form onSubmit={submit} aria-label="Sign in with a password">
      {action.error !== null && <Problem>{messageOf(action.error)}</Problem>}
      {methods.length > 1 && (
        <label>
          Users of
          <select value={method.path} onChange={({ target }) => setPath(target.value)}>
            {methods.map((one) => (
              <option key={one.path} value={one.path}>
                {one.title}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        User name
        <input name="name" autoComplete="username" required />
      </label>
      <label>
        Password
        <input name="password" type="password" autoComplete="current-password" required />
      </label>
      <button type="submit" className="primary" disabled={action.isPending}>
        {action.isPending ? 'Signing in…' : 'Sign in'}
      </button>
    </form>
  );
};
