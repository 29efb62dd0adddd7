import { useState } from 'react';
import type { May } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton, type Fields } from '../components/action-button.tsx';
import { secretsCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { Input, Label, SelectField } from '../components/fields.tsx';
import { Code } from '../components/text.tsx';
import {
  type AuthMounts,
  type Method,
  PASSKEYS,
  pathOfMethod,
  TOTP,
  titleOfMethod,
} from './login-mfa.ts';
import { LOOKUP, pathOfRemoval, RemoveFromPerson } from './lost-factor.tsx';

const KINDS = { totp: 'passcodes of an app', webauthn: 'passkeys' } as const;

const bodyOf = (path: string, { text }: Fields): object => ({
  method_name: text('name').trim(),
  ...(path === TOTP
    ? { issuer: text('title').trim() }
    : {
        relying_party_name: text('title').trim(),
        user_verification: text('verification'),
        ...(text('origins').trim() !== '' && { relying_party_origins: text('origins').trim() }),
      }),
});

const PasskeyFields = () => (
  <>
    <Label>
      Addresses of the console, separated by commas (empty: the public address of the installation)
      <Input name="origins" autoComplete="off" placeholder={location.origin} />
    </Label>
    <Label>
      The device
      <SelectField name="verification">
        <option value="required">must know the person, by a finger or PIN</option>
        <option value="preferred">may do with a touch where it cannot</option>
      </SelectField>
    </Label>
  </>
);

/** Creates a method. @param props.types the paths at which methods may be created */
export const AddMethod = ({ types }: { types: readonly string[] }) => {
  const [chosen, setChosen] = useState<string>();
  const path = chosen ?? types[0] ?? PASSKEYS;
  return (
    <ActionButton
      label="Add a method"
      tone="primary"
      title="Add a method"
      confirm="Add it"
      act={(fields) => callSecrets('POST', path, { body: bodyOf(path, fields) })}
      commands={[secretsCurl('POST', path, path === TOTP ? { issuer: '…' } : { method_name: '…' })]}
    >
      <Label>
        It asks for
        <SelectField value={path} onChange={({ target }) => setChosen(target.value)}>
          {types.map((one) => (
            <option key={one} value={one}>
              {one === TOTP ? KINDS.totp : KINDS.webauthn}
            </option>
          ))}
        </SelectField>
      </Label>
      <Label>
        Name, by which people choose it
        <Input name="name" required maxLength={128} autoComplete="off" />
      </Label>
      <Label>
        Name of this installation in {path === TOTP ? 'apps' : 'browsers'}
        <Input name="title" required maxLength={64} autoComplete="off" defaultValue="Keelson" />
      </Label>
      {path === PASSKEYS && <PasskeyFields />}
    </ActionButton>
  );
};

const DeleteMethod = ({ method }: { method: Method }) => (
  <ActionButton
    label="Delete"
    name={`Delete ${titleOfMethod(method)}`}
    look="small danger"
    tone="danger"
    title={`Delete the method "${titleOfMethod(method)}"?`}
    confirm="Delete it"
    act={() => callSecrets('DELETE', pathOfMethod(method))}
    commands={[secretsCurl('DELETE', pathOfMethod(method))]}
  >
    <p>
      The {method.type === 'totp' ? 'keys' : 'passkeys'} that people have for it are removed with
      it, and cannot be brought back. A method that a login enforcement names is not deleted.
    </p>
  </ActionButton>
);

/** @param props.mounts undefined while nobody knows how people sign in */
export const MethodTable = (props: {
  methods: readonly Method[];
  mounts: AuthMounts | undefined;
  may: May;
}) => {
  const { methods, mounts, may } = props;
  return (
    <DataTable
      label="Methods"
      rows={methods}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Name', isName: true, cell: titleOfMethod },
        { title: 'Asks for', cell: ({ type }) => KINDS[type] },
        {
          title: 'Installation called',
          cell: ({ issuer, relying_party_name: name }) => issuer ?? name ?? '–',
        },
        { title: 'Id', cell: ({ id }) => <Code>{id}</Code> },
        {
          title: 'Actions',
          isActions: true,
          cell: (method) => (
            <>
              {mounts !== undefined &&
                may(pathOfRemoval(method), 'update') &&
                may(LOOKUP, 'update') && <RemoveFromPerson method={method} mounts={mounts} />}
              {may(pathOfMethod(method), 'delete') && <DeleteMethod method={method} />}
            </>
          ),
        },
      ]}
    />
  );
};
