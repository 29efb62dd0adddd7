/** Helps a person who has lost the device of a second factor. */
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { secretsCurl } from '../components/commands.tsx';
import { Input, Label, SelectField } from '../components/fields.tsx';
import {
  type AuthMounts,
  loginMountsOf,
  type Method,
  PASSKEYS,
  TOTP,
  titleOfMethod,
} from './login-mfa.ts';

/** Finds the person by the name of a login. */
export const LOOKUP = 'identity/lookup/entity';

const WORDS = { totp: 'key', webauthn: 'passkeys' } as const;

export const pathOfRemoval = ({ type }: Method): string =>
  `${type === 'totp' ? TOTP : PASSKEYS}/admin-destroy`;

const remove = async (method: Method, name: string, accessor: string): Promise<void> => {
  const found = await callSecrets<{ data: { readonly id: string } } | undefined>('POST', LOOKUP, {
    body: { alias_name: name, alias_mount_accessor: accessor },
  });
  if (found === undefined) throw new Error(`Nobody has signed in there as "${name}".`);
  const body = { method_id: method.id, entity_id: found.data.id };
  await callSecrets('POST', pathOfRemoval(method), { body });
};

/** Removes what one person has for the method. */
export const RemoveFromPerson = (props: { method: Method; mounts: AuthMounts }) => {
  const { method, mounts } = props;
  const what = WORDS[method.type];
  const place = { method_id: method.id, entity_id: '…' };
  return (
    <ActionButton
      label="Remove from a person"
      name={`Remove from a person: ${titleOfMethod(method)}`}
      look="small danger"
      tone="danger"
      title={`Remove the ${what} of a person for "${titleOfMethod(method)}"?`}
      confirm="Remove"
      act={({ text }) => remove(method, text('name').trim(), text('mount'))}
      commands={[
        secretsCurl('POST', pathOfRemoval(method), place),
        ...(method.type === 'totp' ? [secretsCurl('POST', `${TOTP}/admin-generate`, place)] : []),
      ]}
    >
      <p>
        For somebody who has lost the device, or had it stolen. Tokens of the person stay valid.{' '}
        {method.type === 'totp'
          ? 'Make another key by the second command: until then, no login that asks for it is finished.'
          : 'Until the person has another passkey, no login is finished that asks for one.'}
      </p>
      <Label>
        User name
        <Input name="name" required maxLength={512} autoComplete="off" />
      </Label>
      <Label>
        Signs in by
        <SelectField name="mount">
          {loginMountsOf(mounts).map(([path, { accessor, type }]) => (
            <option key={accessor} value={accessor}>
              {path} ({type})
            </option>
          ))}
        </SelectField>
      </Label>
    </ActionButton>
  );
};
