import { type FormEvent, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import { fieldsOf, type SubmittedFields } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { Input, Label, SelectField } from '../components/fields.tsx';
import { Problem } from '../components/page.tsx';
import { presentPasskey } from './passkey.ts';
import type { Constraint, FactorMethod, SecondFactor } from './second-factor.ts';
import { finishLogin } from './sign-in-methods.ts';

/** Whether the person can answer with the method at all. */
const isUsable = ({ options }: FactorMethod): boolean => options !== null;

const titleOf = ({ id, name, uses_passcode: isPasscode }: FactorMethod): string =>
  name === '' ? (isPasscode ? id : 'Passkey') : name;

/** Asks for a passcode, or announces the question for a passkey; the method is chosen if there are several. */
const FactorField = (props: {
  constraint: Constraint;
  chosen: FactorMethod | undefined;
  onChosen: (id: string) => void;
  isOnly: boolean;
}) => {
  const { constraint, chosen, onChosen, isOnly } = props;
  const methods = constraint.methods.filter(isUsable);
  const of = isOnly ? '' : ` for ${constraint.name}`;
  return (
    <>
      {methods.length > 1 && (
        <Label>
          Authenticator{of}
          <SelectField value={chosen?.id} onChange={({ target }) => onChosen(target.value)}>
            {methods.map((method) => (
              <option key={method.id} value={method.id}>
                {titleOf(method)}
              </option>
            ))}
          </SelectField>
        </Label>
      )}
      {chosen === undefined && (
        <Problem>
          You have no passkey{of}, and cannot go on without one. Ask an administrator to help you.
        </Problem>
      )}
      {chosen?.uses_passcode === true && (
        <>
          <p>
            Open your authenticator app, and type the passcode that it shows for this installation.
          </p>
          <Label>
            Passcode{of}
            <Input
              key={chosen.id}
              name={chosen.id}
              inputMode="numeric"
              autoComplete="one-time-code"
              pattern="[0-9]*"
              maxLength={8}
              required
            />
          </Label>
        </>
      )}
      {chosen?.uses_passcode === false && (
        <p>Your browser asks for your passkey{of}: touch your key, or unlock your device.</p>
      )}
    </>
  );
};

/** The answer to one method; passkeys are asked for one after the other. */
const answerOf = (method: FactorMethod, { text }: SubmittedFields): Promise<string | object> =>
  method.options === undefined || method.options === null
    ? Promise.resolve(text(method.id).trim())
    : presentPasskey(method.options);

/** The second half of a sign-in: the passcodes of an authenticator app, or passkeys. */
export const FactorForm = (props: {
  factor: SecondFactor;
  onDone?: () => void | Promise<void>;
}) => {
  const { factor, onDone } = props;
  const [choices, setChoices] = useState<Readonly<Record<string, string>>>({});
  const chosen = factor.constraints.map(({ name, methods }) => {
    const usable = methods.filter(isUsable);
    return usable.find(({ id }) => id === choices[name]) ?? usable[0];
  });
  const known = chosen.flatMap((method) => method ?? []);
  const action = useAction(async (fields: SubmittedFields) => {
    const answers: Record<string, readonly (string | object)[]> = {};
    for (const method of known) answers[method.id] ??= [await answerOf(method, fields)];
    await finishLogin(factor, answers);
  }, onDone);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    action.run(fieldsOf(event.currentTarget));
  };
  const isPasskey = known.some(({ uses_passcode: isPasscode }) => !isPasscode);
  return (
    <form onSubmit={submit} aria-label="Second factor">
      {action.error !== null && <Problem>{messageOf(action.error)}</Problem>}
      {factor.constraints.map((constraint, index) => (
        <FactorField
          key={constraint.name}
          constraint={constraint}
          chosen={chosen[index]}
          onChosen={(id) => setChoices({ ...choices, [constraint.name]: id })}
          isOnly={factor.constraints.length === 1}
        />
      ))}
      <Button
        type="submit"
        look="primary"
        disabled={action.isPending || known.length < chosen.length}
      >
        {action.isPending ? 'Signing in…' : isPasskey ? 'Use my passkey' : 'Sign in'}
      </Button>
    </form>
  );
};
