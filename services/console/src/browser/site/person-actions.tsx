/** The button and the menu by which administrators of the site manage one person. */
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { callWorkspaces, type Resource } from '../api/workspaces-api.ts';
import { ActionMenu, type MenuAction } from '../components/action-menu.tsx';
import { workspacesCurl } from '../components/commands.tsx';
import { Input, Label } from '../components/fields.tsx';
import { Hint } from '../components/text.tsx';
import { EditButton } from '../editing/edit-button.tsx';
import { workspaceTarget } from '../editing/edit-target.ts';
import { Fault } from '../editing/faults.tsx';

export type Person = Resource<ResourceAttributes['users']>;

/** An action at its own path, without a body. */
const act = (
  { id }: Person,
  action: string,
  text: string,
  words: Pick<MenuAction, 'label' | 'title' | 'confirm' | 'tone'>,
): MenuAction => {
  const path = `admin/users/${id}/actions/${action}`;
  return {
    ...words,
    children: <p>{text}</p>,
    act: () => callWorkspaces('POST', path),
    commands: [workspacesCurl('POST', path)],
  };
};

const suspension = (person: Person): MenuAction => {
  const { username, 'is-suspended': isSuspended } = person.attributes;
  return isSuspended === true
    ? act(
        person,
        'unsuspend',
        'API tokens of the account are accepted again. Its sessions have ended: the person signs in again.',
        { label: 'Unsuspend', title: `Unsuspend ${username}?`, confirm: 'Unsuspend' },
      )
    : act(
        person,
        'suspend',
        'The person cannot sign in, every session ends, and every API token of the account is refused until the suspension ends. Tokens of teams and organizations that the person knows stay valid.',
        { label: 'Suspend', title: `Suspend ${username}?`, confirm: 'Suspend', tone: 'danger' },
      );
};

const administration = (person: Person): MenuAction => {
  const { username, 'is-admin': isAdministrator } = person.attributes;
  return isAdministrator === true
    ? act(
        person,
        'revoke_admin',
        'The account keeps its organizations and teams, and manages the site no more.',
        {
          label: 'Remove administration',
          title: `Remove the administration of the site from ${username}?`,
          confirm: 'Remove it',
          tone: 'danger',
        },
      )
    : act(
        person,
        'grant_admin',
        'The person may create and switch off organizations, change how people sign in, and suspend or delete everybody else.',
        {
          label: 'Make administrator',
          title: `Make ${username} an administrator of the site?`,
          confirm: 'Make administrator',
        },
      );
};

const endSessions = (person: Person): MenuAction =>
  act(
    person,
    'end_sessions',
    'The person is signed out everywhere and may sign in again. API tokens stay, and links for a new password end.',
    {
      label: 'End sessions',
      title: `End all sessions of ${person.attributes.username}?`,
      confirm: 'End them',
      tone: 'danger',
    },
  );

const turnOffFactor = (person: Person): MenuAction =>
  act(
    person,
    'disable_two_factor',
    'For whoever has lost the authenticator and the recovery codes: the password alone signs in until the person sets up another one. Make sure who asks for it.',
    {
      label: 'Turn off second factor',
      title: `Turn off the second factor of ${person.attributes.username}?`,
      confirm: 'Turn it off',
      tone: 'danger',
    },
  );

const removePasskeys = (person: Person): MenuAction =>
  act(
    person,
    'remove_passkeys',
    'For whoever has lost a device: no passkey signs in any more, and every session ends. API tokens stay. Whoever has no password gets one by the link of a mail.',
    {
      label: 'Remove passkeys',
      title: `Remove all passkeys of ${person.attributes.username}?`,
      confirm: 'Remove them',
      tone: 'danger',
    },
  );

const deletion = ({ id, attributes: { username } }: Person): MenuAction => {
  const path = `admin/users/${id}`;
  return {
    label: 'Delete',
    title: `Delete the account of ${username}?`,
    confirm: 'Delete it',
    tone: 'danger',
    typed: username,
    children: (
      <p>
        Tokens, sessions and memberships end, and names and addresses are erased. Runs and comments
        of the person stay, and name nobody. The last owner of an organization cannot be deleted.
      </p>
    ),
    act: () => callWorkspaces('DELETE', path),
    commands: [workspacesCurl('DELETE', path)],
  };
};

const nameOf = ({ attributes }: Person) => ({
  username: attributes.username,
  email: attributes.email ?? '',
});

const Edit = ({ person }: { person: Person }) => (
  <EditButton
    edits="person"
    label="Edit"
    name={`Edit: ${person.attributes.username}`}
    look="small"
    title={`Edit the account of ${person.attributes.username}`}
    hasFaults
    target={workspaceTarget<Person['attributes']>(`admin/users/${person.id}`, 'users')}
    valuesOf={nameOf}
    bodyOf={(changed) => ({ attributes: changed })}
    fields={(values) => (
      <>
        <Label>
          User name
          <Input name="username" required autoComplete="off" defaultValue={values.username} />
          <Fault of="username" />
        </Label>
        <Label>
          Mail address
          <Input
            name="email"
            type="email"
            required
            autoComplete="off"
            defaultValue={values.email}
          />
          <Fault of="email" />
        </Label>
        <Hint>
          The person signs in with the new name or address from now on. The address counts as
          confirmed: links for a new password go to it.
        </Hint>
      </>
    )}
  />
);

export const PersonActions = ({ person }: { person: Person }) => (
  <>
    <Edit person={person} />
    <ActionMenu
      name={`More actions: ${person.attributes.username}`}
      actions={[
        administration(person),
        endSessions(person),
        ...(person.attributes['two-factor']?.enabled === true ? [turnOffFactor(person)] : []),
        removePasskeys(person),
        suspension(person),
        deletion(person),
      ]}
    />
  </>
);
