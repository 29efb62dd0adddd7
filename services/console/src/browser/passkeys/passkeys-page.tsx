/** The passkeys of whoever has signed in, which are second factors of their logins. */
import { ApiProblem } from '../api/api-problem.ts';
import { type May, useCapabilities, useSecret } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, secretsCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { Input, Label, SelectField } from '../components/fields.tsx';
import { formatTime } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty, Page } from '../components/page.tsx';
import { Code } from '../components/text.tsx';
import {
  makePasskey,
  type NewPasskeyQuestion,
  type PasskeyQuestion,
  presentPasskey,
} from '../session/passkey.ts';

const OWN = 'identity/mfa/method/webauthn/own';
const [BEGIN, FINISH, RENAME, REMOVE] = [
  `${OWN}/begin`,
  `${OWN}/finish`,
  `${OWN}/rename`,
  `${OWN}/remove`,
] as const;
/** As many as the server takes for one method. */
const MOST = 10;

interface Method {
  readonly id: string;
  readonly name: string;
  readonly relying_party_name: string;
}

interface Passkey {
  readonly id: string;
  readonly method_id: string;
  readonly name: string;
  readonly creation_time: string;
  readonly last_use_time: string | null;
  readonly relying_party_id: string;
  readonly backup_eligible: boolean;
}

interface OwnPasskeys {
  readonly methods: readonly Method[];
  readonly passkeys: readonly Passkey[];
}

interface Begun {
  /** Null if no further passkey is allowed. */
  readonly registration: NewPasskeyQuestion | null;
  /** Null while there is no passkey that could confirm. */
  readonly confirmation: PasskeyQuestion | null;
}

const begin = async (methodId: string): Promise<Begun> =>
  (await callSecrets<{ data: Begun }>('POST', BEGIN, { body: { method_id: methodId } })).data;

/** The passkey that confirms a change, if there is one. */
const confirm = async ({ confirmation }: Begun): Promise<object> =>
  confirmation === null ? {} : { confirmation: await presentPasskey(confirmation) };

const add = async (methodId: string, name: string): Promise<void> => {
  const begun = await begin(methodId);
  if (begun.registration === null)
    throw new Error(`You have ${MOST} passkeys, and no more are allowed: remove one first.`);
  const confirmed = await confirm(begun);
  const credential = await makePasskey(begun.registration);
  const body = { method_id: methodId, name, credential, ...confirmed };
  await callSecrets('POST', FINISH, { body });
};

const remove = async ({ id, method_id }: Passkey): Promise<void> => {
  const confirmed = await confirm(await begin(method_id));
  const body = { method_id, passkey_id: id, ...confirmed };
  await callSecrets('POST', REMOVE, { body });
};

const titleOf = ({ name, relying_party_name: title }: Method): string =>
  name === '' ? title : name;

const NameField = (props: { value?: string }) => (
  <Label>
    Name by which you know it
    <Input
      name="name"
      required
      maxLength={64}
      autoComplete="off"
      placeholder="work phone"
      defaultValue={props.value}
    />
  </Label>
);

const AddPasskey = ({ methods, hasSome }: { methods: readonly Method[]; hasSome: boolean }) => {
  const [first] = methods;
  if (first === undefined) return null;
  return (
    <ActionButton
      label="Add a passkey"
      tone="primary"
      title="Add a passkey"
      confirm="Go on in the browser"
      act={({ text }) => add(methods.length === 1 ? first.id : text('method'), text('name').trim())}
      commands={[secretsCurl('POST', BEGIN, { method_id: first.id })]}
    >
      <p>
        {hasSome
          ? 'Your browser asks for one of your passkeys first, and then makes the new one.'
          : 'Your browser makes it, in this device, in a phone or in a security key.'}
      </p>
      {methods.length > 1 && (
        <Label>
          Asked for by
          <SelectField name="method">
            {methods.map((method) => (
              <option key={method.id} value={method.id}>
                {titleOf(method)}
              </option>
            ))}
          </SelectField>
        </Label>
      )}
      <NameField />
    </ActionButton>
  );
};

const RenamePasskey = ({ passkey: { id, method_id, name } }: { passkey: Passkey }) => (
  <ActionButton
    label="Rename"
    name={`Rename ${name}`}
    look="small"
    title={`Rename "${name}"`}
    confirm="Rename it"
    act={({ text }) =>
      callSecrets('POST', RENAME, {
        body: { method_id, passkey_id: id, name: text('name').trim() },
      })
    }
    commands={[secretsCurl('POST', RENAME, { method_id, passkey_id: id, name: '…' })]}
  >
    <NameField value={name} />
  </ActionButton>
);

const RemovePasskey = ({ passkey }: { passkey: Passkey }) => (
  <ActionButton
    label="Remove"
    name={`Remove ${passkey.name}`}
    look="small danger"
    tone="danger"
    title={`Remove "${passkey.name}"?`}
    confirm="Remove it"
    act={() => remove(passkey)}
    commands={[secretsCurl('POST', BEGIN, { method_id: passkey.method_id })]}
  >
    <p>
      It signs you in no more. Your browser asks for one of your passkeys first. If you have none of
      them any more, an administrator can remove them.
    </p>
  </ActionButton>
);

const PasskeyTable = ({ methods, passkeys, may }: OwnPasskeys & { may: May }) => {
  const titles = new Map(methods.map((method) => [method.id, titleOf(method)]));
  return (
    <DataTable
      label="Passkeys"
      rows={passkeys}
      keyOf={({ id, method_id }) => `${method_id}/${id}`}
      columns={[
        { title: 'Name', isName: true, cell: ({ name }) => name },
        {
          title: 'Asked for by',
          cell: ({ method_id: id }) => titles.get(id) ?? 'nothing any more',
        },
        {
          title: 'Kept',
          cell: ({ backup_eligible: isSynchronized }) =>
            isSynchronized ? 'in several devices' : 'in one device',
        },
        { title: 'Added', cell: ({ creation_time: at }) => formatTime(at) },
        {
          title: 'Last used',
          cell: ({ last_use_time: at }) => (at === null ? 'never here' : formatTime(at)),
        },
        {
          title: 'Actions',
          isActions: true,
          cell: (passkey) => (
            <>
              {may(RENAME, 'update') && <RenamePasskey passkey={passkey} />}
              {may(BEGIN, 'update') && may(REMOVE, 'update') && <RemovePasskey passkey={passkey} />}
            </>
          ),
        },
      ]}
    />
  );
};

export const PasskeysPage = () => {
  const query = useSecret<OwnPasskeys>(OWN);
  const { methods = [], passkeys = [] } = query.data ?? {};
  const may = useCapabilities([BEGIN, FINISH, RENAME, REMOVE]);
  const status = query.error instanceof ApiProblem ? query.error.status : 0;
  return (
    <Page
      title="Passkeys"
      lead="With a passkey, you confirm by a finger, a PIN or a touch that it is you who signs in."
      actions={
        may(BEGIN, 'update') &&
        may(FINISH, 'update') && <AddPasskey methods={methods} hasSome={passkeys.length > 0} />
      }
    >
      <Card>
        {status === 403 && (
          <Empty>
            Your policies give no access to <Code>{OWN}</Code>: ask an administrator for it.
          </Empty>
        )}
        {status === 400 && (
          <Empty>
            Whoever signs in may have passkeys. You have given a token that has no person.
          </Empty>
        )}
        {status !== 403 && status !== 400 && (
          <Loaded query={query}>
            {() =>
              passkeys.length > 0 ? (
                <PasskeyTable methods={methods} passkeys={passkeys} may={may} />
              ) : (
                <Empty>
                  {methods.length === 0
                    ? 'No login of this namespace asks for passkeys.'
                    : 'You have no passkey yet. Add two, so that one is left when a device is lost.'}
                </Empty>
              )
            }
          </Loaded>
        )}
        <Commands commands={[secretsCurl('GET', OWN)]} />
      </Card>
    </Page>
  );
};
