/** The buttons by which administrators of the site manage one person. */
import type { ReactNode } from 'react';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { callWorkspaces, type Resource } from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { workspacesCurl } from '../components/commands.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import { Input, Label } from '../components/fields.tsx';
import { Hint } from '../components/text.tsx';
import { EditButton } from '../editing/edit-button.tsx';
import { workspaceTarget } from '../editing/edit-target.ts';
import { Fault } from '../editing/faults.tsx';

export type Person = Resource<ResourceAttributes['users']>;

const Act = (props: {
  person: Person;
  action: string;
  label: string;
  title: string;
  confirm: string;
  tone?: 'danger';
  children: ReactNode;
}) => {
  const { person, action, label, title, confirm, tone } = props;
  const path = `admin/users/${person.id}/actions/${action}`;
  return (
    <ActionButton
      label={label}
      name={`${label}: ${person.attributes.username}`}
      look="small"
      tone={tone}
      title={title}
      confirm={confirm}
      act={() => callWorkspaces('POST', path)}
      commands={[workspacesCurl('POST', path)]}
    >
      <p>{props.children}</p>
    </ActionButton>
  );
};

const Suspension = ({ person }: { person: Person }) => {
  const { username, 'is-suspended': isSuspended } = person.attributes;
  return isSuspended === true ? (
    <Act
      person={person}
      action="unsuspend"
      label="Unsuspend"
      title={`Unsuspend ${username}?`}
      confirm="Unsuspend"
    >
      API tokens of the account are accepted again. Its sessions have ended: the person signs in
      again.
    </Act>
  ) : (
    <Act
      person={person}
      action="suspend"
      label="Suspend"
      title={`Suspend ${username}?`}
      confirm="Suspend"
      tone="danger"
    >
      The person cannot sign in, every session ends, and every API token of the account is refused
      until the suspension ends. Tokens of teams and organizations that the person knows stay valid.
    </Act>
  );
};

const Administration = ({ person }: { person: Person }) => {
  const { username, 'is-admin': isAdministrator } = person.attributes;
  return isAdministrator === true ? (
    <Act
      person={person}
      action="revoke_admin"
      label="Remove administration"
      title={`Remove the administration of the site from ${username}?`}
      confirm="Remove it"
      tone="danger"
    >
      The account keeps its organizations and teams, and manages the site no more.
    </Act>
  ) : (
    <Act
      person={person}
      action="grant_admin"
      label="Make administrator"
      title={`Make ${username} an administrator of the site?`}
      confirm="Make administrator"
    >
      The person may create and switch off organizations, change how people sign in, and suspend or
      delete everybody else.
    </Act>
  );
};

const SignInProofs = ({ person }: { person: Person }) => {
  const { username, 'two-factor': twoFactor } = person.attributes;
  return (
    <>
      {twoFactor?.enabled === true && (
        <Act
          person={person}
          action="disable_two_factor"
          label="Turn off second factor"
          title={`Turn off the second factor of ${username}?`}
          confirm="Turn it off"
          tone="danger"
        >
          For whoever has lost the authenticator and the recovery codes: the password alone signs in
          until the person sets up another one. Make sure who asks for it.
        </Act>
      )}
      <Act
        person={person}
        action="remove_passkeys"
        label="Remove passkeys"
        title={`Remove all passkeys of ${username}?`}
        confirm="Remove them"
        tone="danger"
      >
        For whoever has lost a device: no passkey signs in any more, and every session ends. API
        tokens stay. Whoever has no password gets one by the link of a mail.
      </Act>
    </>
  );
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

const EndSessions = ({ person }: { person: Person }) => (
  <Act
    person={person}
    action="end_sessions"
    label="End sessions"
    title={`End all sessions of ${person.attributes.username}?`}
    confirm="End them"
    tone="danger"
  >
    The person is signed out everywhere and may sign in again. API tokens stay, and links for a new
    password end.
  </Act>
);

export const PersonActions = ({ person }: { person: Person }) => (
  <>
    <Edit person={person} />
    <EndSessions person={person} />
    <Suspension person={person} />
    <SignInProofs person={person} />
    <Administration person={person} />
    <DeleteButton
      what={`the account of ${person.attributes.username}`}
      name={`Delete ${person.attributes.username}`}
      path={`admin/users/${person.id}`}
      typed={person.attributes.username}
    >
      Tokens, sessions and memberships end, and names and addresses are erased. Runs and comments of
      the person stay, and name nobody. The last owner of an organization cannot be deleted.
    </DeleteButton>
  </>
);
