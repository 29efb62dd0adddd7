/** The passkeys with which a user of the workspace API signs in. */
import { useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import {
  callWorkspaces,
  type ListDocument,
  type OneDocument,
  type Resource,
} from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import { Input, Label } from '../components/fields.tsx';
import { formatTime } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty } from '../components/page.tsx';
import type { PasskeyQuestions } from '../session/account-passkey.ts';
import { makePasskey, presentPasskey } from '../session/passkey.ts';

type Passkey = ResourceAttributes['passkeys'];

const PATH = 'account/passkeys';
const BEGIN = `${PATH}/actions/begin`;

const bodyOf = (attributes: object): object => ({ data: { type: 'passkeys', attributes } });

const add = async (name: string, password: string): Promise<void> => {
  const { data } = await callWorkspaces<OneDocument<PasskeyQuestions>>('POST', BEGIN);
  const { registration, 'sign-in': confirmation } = data.attributes;
  if (registration === null) throw new Error('The server has asked for no passkey.');
  const confirmed =
    confirmation === null ? {} : { confirmation: await presentPasskey(confirmation) };
  const credential = await makePasskey(registration);
  const proof = password === '' ? {} : { 'current-password': password };
  const body = bodyOf({ name, credential, ...confirmed, ...proof });
  await callWorkspaces('POST', PATH, { body });
};

const NameField = (props: { value?: string }) => (
  <Label>
    Name by which you know it
    <Input
      name="name"
      required
      maxLength={100}
      autoComplete="off"
      placeholder="work phone"
      defaultValue={props.value}
    />
  </Label>
);

const AddPasskey = () => (
  <ActionButton
    label="Add a passkey"
    title="Add a passkey"
    confirm="Go on in the browser"
    act={({ text }) => add(text('name').trim(), text('password'))}
    commands={[workspacesCurl('POST', BEGIN)]}
  >
    <p>
      Your browser makes it, in this device, in a phone or in a security key. It signs you in
      without a name and a password.
    </p>
    <NameField />
    <Label>
      Your password (empty, if you have none)
      <Input name="password" type="password" autoComplete="current-password" />
    </Label>
  </ActionButton>
);

const RenamePasskey = ({ id, attributes: { name } }: Resource<Passkey>) => (
  <ActionButton
    label="Rename"
    name={`Rename ${name}`}
    look="small"
    title={`Rename "${name}"`}
    confirm="Rename it"
    act={({ text }) =>
      callWorkspaces('PATCH', `${PATH}/${id}`, { body: bodyOf({ name: text('name').trim() }) })
    }
    commands={[workspacesCurl('PATCH', `${PATH}/${id}`, bodyOf({ name: '…' }))]}
  >
    <NameField value={name} />
  </ActionButton>
);

const PasskeyTable = (props: { passkeys: readonly Resource<Passkey>[]; mayChange: boolean }) => (
  <DataTable
    label="Passkeys"
    rows={props.passkeys}
    keyOf={({ id }) => id}
    columns={[
      { title: 'Name', isName: true, cell: ({ attributes }) => attributes.name },
      { title: 'Added', cell: ({ attributes }) => formatTime(attributes['created-at']) },
      {
        title: 'Last used',
        cell: ({ attributes: { 'last-used-at': at } }) =>
          at === null ? 'never here' : formatTime(at),
      },
      {
        title: 'Kept',
        cell: ({ attributes }) =>
          attributes['is-synced'] ? 'in several devices' : 'in one device',
      },
      {
        title: 'Actions',
        isActions: true,
        cell: (passkey) =>
          props.mayChange && (
            <>
              <RenamePasskey {...passkey} />
              <DeleteButton
                label="Remove"
                what={`the passkey ${passkey.attributes.name}`}
                name={`Remove ${passkey.attributes.name}`}
                path={`${PATH}/${passkey.id}`}
              >
                It signs you in no more. Remove it from the device as well.
              </DeleteButton>
            </>
          ),
      },
    ]}
  />
);

export const PasskeysCard = ({ mayChange }: { mayChange: boolean }) => {
  const query = useDocument<ListDocument<Passkey>>(PATH);
  return (
    <Card title="Passkeys" actions={mayChange ? <AddPasskey /> : undefined}>
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>You have no passkey yet.</Empty>
          ) : (
            <PasskeyTable passkeys={data} mayChange={mayChange} />
          )
        }
      </Loaded>
      <Commands commands={[workspacesCurl('GET', PATH)]} />
    </Card>
  );
};
