import { type FormEvent, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import { fieldsOf } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { Input, Label, SelectField } from '../components/fields.tsx';
import { Problem } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { type AccountFactor, signInToAccount } from './account-sign-in.ts';
import type { OnFactor } from './second-factor.ts';
import { type SignInMethod, signInWithPassword } from './sign-in-methods.ts';

/** Asks for the name and password of a user of one of the methods. */
export const PasswordForm = (props: {
  methods: readonly [SignInMethod, ...SignInMethod[]];
  onFactor: OnFactor;
  /** Called as `onFactor`, for an account of the workspace API. */
  onAccountFactor: (factor: AccountFactor | undefined) => void;
}) => {
  const { methods, onFactor, onAccountFactor } = props;
  const [path, setPath] = useState(methods[0].path);
  const method = methods.find((one) => one.path === path) ?? methods[0];
  const isAccount = method.type === 'accounts';
  const action = useAction(async (given: { name: string; password: string }) => {
    if (method.type === 'accounts') onAccountFactor(await signInToAccount(given));
    else onFactor(await signInWithPassword(method, given));
  });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const { text } = fieldsOf(event.currentTarget);
    action.run({ name: text('name').trim(), password: text('password') });
  };
  return (
    <form onSubmit={submit} aria-label="Sign in with a password">
      {action.error !== null && <Problem>{messageOf(action.error)}</Problem>}
      {methods.length > 1 && (
        <Label>
          Users of
          <SelectField value={method.path} onChange={({ target }) => setPath(target.value)}>
            {methods.map((one) => (
              <option key={one.path} value={one.path}>
                {one.title}
              </option>
            ))}
          </SelectField>
        </Label>
      )}
      <Label>
        {isAccount ? 'User name or mail address' : 'User name'}
        <Input name="name" autoComplete="username" required />
      </Label>
      <Label>
        Password
        <Input name="password" type="password" autoComplete="current-password" required />
      </Label>
      <Button type="submit" look="primary" disabled={action.isPending}>
        {action.isPending ? 'Signing in…' : 'Sign in'}
      </Button>
      {isAccount && method.hasReset && (
        <PageLink to="/app/new-password">Forgotten the password?</PageLink>
      )}
    </form>
  );
};
