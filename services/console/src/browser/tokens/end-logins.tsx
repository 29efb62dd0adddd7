/** Signs one person out: ends all tokens of the logins with a name. */
import { useCapabilities, useSecret } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { secretsCurl, vaultCommand } from '../components/commands.tsx';
import { Input, Label, SelectField } from '../components/fields.tsx';

type AuthMounts = Readonly<Record<string, { readonly type: string }>>;

const REVOKE = 'sys/leases/revoke-prefix/auth';
/** Methods whose logins have the name of the person in their path. */
const WITH_NAMES: readonly string[] = ['userpass', 'ldap'];

const pathOf = (mount: string, name: string): string =>
  `${REVOKE}/${mount}login/${encodeURIComponent(name)}`;

/** Shown where somebody signs in with a name, to whoever may end leases by their paths. */
export const EndLogins = () => {
  const may = useCapabilities([REVOKE]);
  const { data: mounts } = useSecret<AuthMounts>('sys/auth');
  const paths = Object.entries(mounts ?? {}).flatMap(([path, { type }]) =>
    WITH_NAMES.includes(type) ? [path] : [],
  );
  const [first] = paths;
  if (first === undefined || !may(REVOKE, 'update')) return null;
  return (
    <ActionButton
      label="Sign a person out"
      tone="danger"
      title="Sign a person out?"
      confirm="End the tokens"
      act={({ text }) => callSecrets('POST', pathOf(text('mount'), text('name').trim()))}
      commands={[
        secretsCurl('POST', pathOf(first, 'NAME')),
        vaultCommand(`vault lease revoke -prefix auth/${first}login/NAME`),
      ]}
    >
      <p>
        All tokens of the person's logins by this way are refused at once, with every token that was
        made by them. A name that nobody has ends nothing. The person may sign in again unless the
        user is deleted or the entity disabled.
      </p>
      <Label>
        User name, as the tokens show it
        <Input name="name" required maxLength={512} autoComplete="off" />
      </Label>
      <Label>
        Signs in by
        <SelectField name="mount">
          {paths.map((path) => (
            <option key={path}>{path}</option>
          ))}
        </SelectField>
      </Label>
    </ActionButton>
  );
};
