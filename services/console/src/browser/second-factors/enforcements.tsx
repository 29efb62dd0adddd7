import type { May } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton, type Fields } from '../components/action-button.tsx';
import { secretsCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { ChoiceLabel, FieldSet, Input, Label } from '../components/fields.tsx';
import {
  type AuthMounts,
  type Enforcement,
  loginMountsOf,
  type Method,
  pathOfEnforcement,
  titleOfMethod,
} from './login-mfa.ts';

const create = ({ text, isChecked }: Fields, methods: readonly Method[], mounts: AuthMounts) =>
  callSecrets('POST', pathOfEnforcement(text('name').trim()), {
    body: {
      mfa_method_ids: methods.filter(({ id }) => isChecked(id)).map(({ id }) => id),
      auth_method_accessors: Object.values(mounts)
        .map(({ accessor }) => accessor)
        .filter(isChecked),
    },
  });

/** Creates a login enforcement for the logins of mounts. */
export const AddEnforcement = (props: { methods: readonly Method[]; mounts: AuthMounts }) => {
  const { methods } = props;
  const mounts = Object.fromEntries(loginMountsOf(props.mounts));
  return (
    <ActionButton
      label="Add an enforcement"
      tone="primary"
      title="Add a login enforcement"
      confirm="Ask for it from now on"
      act={(fields) => create(fields, methods, mounts)}
      commands={[
        secretsCurl('POST', pathOfEnforcement('NAME'), {
          mfa_method_ids: ['…'],
          identity_group_ids: ['…'],
        }),
      ]}
    >
      <p>
        Whoever has neither a key nor a passkey for one of the methods cannot sign in by these ways
        any more. Tokens stay valid. Groups and single people are named by the command.
      </p>
      <Label>
        Name
        <Input name="name" required maxLength={128} pattern="[\w.\-]+" autoComplete="off" />
      </Label>
      <FieldSet>
        <legend>Any of these is enough</legend>
        {methods.map((method) => (
          <ChoiceLabel key={method.id}>
            <input type="checkbox" name={method.id} /> {titleOfMethod(method)}
          </ChoiceLabel>
        ))}
      </FieldSet>
      <FieldSet>
        <legend>Asked of logins by</legend>
        {Object.entries(mounts).map(([path, { accessor, type }]) => (
          <ChoiceLabel key={accessor}>
            <input type="checkbox" name={accessor} /> {path} ({type})
          </ChoiceLabel>
        ))}
      </FieldSet>
    </ActionButton>
  );
};

const DeleteEnforcement = ({ name }: { name: string }) => (
  <ActionButton
    label="Delete"
    name={`Delete ${name}`}
    look="small danger"
    tone="danger"
    title={`Delete the login enforcement "${name}"?`}
    confirm="Delete it"
    act={() => callSecrets('DELETE', pathOfEnforcement(name))}
    commands={[secretsCurl('DELETE', pathOfEnforcement(name))]}
  >
    <p>The logins that it names are asked for a second factor no more, unless another one does.</p>
  </ActionButton>
);

const count = (number: number, one: string, many: string): readonly string[] =>
  number === 0 ? [] : [number === 1 ? `1 ${one}` : `${number} ${many}`];

/** The logins in words: mounts by their paths, types, and how many groups and people. */
const loginsOf = (enforcement: Enforcement, paths: ReadonlyMap<string, string>): string =>
  [
    ...enforcement.auth_method_accessors.map((accessor) => paths.get(accessor) ?? accessor),
    ...enforcement.auth_method_types.map((type) => `every ${type}`),
    ...count(enforcement.identity_group_ids.length, 'group', 'groups'),
    ...count(enforcement.identity_entity_ids.length, 'person', 'people'),
  ].join(', ');

export const EnforcementTable = (props: {
  enforcements: readonly Enforcement[];
  methods: readonly Method[];
  mounts: AuthMounts;
  may: May;
}) => {
  const { enforcements, methods, mounts, may } = props;
  const titles = new Map(methods.map((method) => [method.id, titleOfMethod(method)]));
  const paths = new Map(Object.entries(mounts).map(([path, { accessor }]) => [accessor, path]));
  return (
    <DataTable
      label="Login enforcements"
      rows={enforcements}
      keyOf={({ name }) => name}
      columns={[
        { title: 'Name', isName: true, cell: ({ name }) => name },
        {
          title: 'Any of',
          // A method of a namespace above has no name here.
          cell: ({ mfa_method_ids: ids }) => ids.map((id) => titles.get(id) ?? id).join(', '),
        },
        { title: 'Asked of logins by', cell: (one) => loginsOf(one, paths) },
        {
          title: 'Actions',
          isActions: true,
          cell: ({ name }) =>
            may(pathOfEnforcement(name), 'delete') && <DeleteEnforcement name={name} />,
        },
      ]}
    />
  );
};
