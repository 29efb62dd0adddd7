import { type FormEvent, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import { fieldsOf } from '../components/action-button.tsx';
import { Problem } from '../components/page.tsx';
import type { Constraint, SecondFactor } from './second-factor.ts';
import { finishLogin } from './sign-in-methods.ts';

/** Asks for one passcode, of a method that is chosen if there are several. */
const PasscodeField = (props: { constraint: Constraint; isOnly: boolean }) => {
  const { constraint, isOnly } = props;
  const [id, setId] = useState(constraint.methods[0]?.id ?? '');
  return (
    <>
      {constraint.methods.length > 1 && (
        <label>
          Authenticator
          <select value={id} onChange={({ target }) => setId(target.value)}>
            {constraint.methods.map((method) => (
              <option key={method.id} value={method.id}>
                {method.name === '' ? method.id : method.name}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        {isOnly ? 'Passcode' : `Passcode for ${constraint.name}`}
        <input
          name={id}
          inputMode="numeric"
          autoComplete="one-time-code"
          pattern="[0-9]*"
          maxLength={8}
          required
        />
      </label>
    </>
  );
};

/** The second half of a sign-in: the passcodes of an authenticator app. */
export const PasscodeForm = (props: {
  factor: SecondFactor;
  onDone?: () => void | Promise<void>;
}) => {
  const { factor, onDone } = props;
  const action = useAction(
    (passcodes: Readonly<Record<string, readonly string[]>>) => finishLogin(factor, passcodes),
    onDone,
  );
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const { text } = fieldsOf(event.currentTarget);
    const ids = factor.constraints.flatMap(({ methods }) => methods.map(({ id }) => id));
    const given = ids.map((id) => [id, text(id).trim()] as const).filter(([, code]) => code !== '');
    action.run(Object.fromEntries(given.map(([id, code]) => [id, [code]])));
  };
  return (
    <form onSubmit={submit} aria-label="Second factor">
      {action.error !== null && <Problem>{messageOf(action.error)}</Problem>}
      <p>Open your authenticator app, and type the passcode that it shows for this installation.</p>
      {factor.constraints.map((constraint) => (
        <PasscodeField
          key={constraint.name}
          constraint={constraint}
          isOnly={factor.constraints.length === 1}
        />
      ))}
      <button type="submit" className="primary" disabled={action.isPending}>
        {action.isPending ? 'Signing in…' : 'Sign in'}
      </button>
    </form>
  );
};
