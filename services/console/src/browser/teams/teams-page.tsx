/** Teams of an organization with their members, and all members of the organization. */
import { getRouteApi } from '@tanstack/react-router';
import { Fragment } from 'react';
import {
  callWorkspaces,
  includedOne,
  type ListDocument,
  type Resource,
  type ResourceId,
} from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import { counted, inWords, shownTime } from '../components/format.ts';
import { Card, Empty, Page } from '../components/page.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { NotificationsCard } from '../notifications/notifications-card.tsx';
import { useOrganizationPermissions } from '../organizations/organization-permissions.ts';

const route = getRouteApi('/app/$organization/teams');

interface Team {
  readonly name: string;
  readonly visibility: string;
  readonly 'users-count': number;
  readonly 'organization-access': Readonly<Record<string, boolean>>;
  readonly permissions: {
    readonly 'can-update-membership': boolean;
    readonly 'can-destroy': boolean;
    readonly 'can-update-organization-access': boolean;
  };
}

interface User {
  readonly username: string;
}

const OWNERS = 'owners';
/** Each team reads its notifications. */
const TEAMS_SHOWN = 20;
/** Organization-wide permissions that the form offers. */
const RIGHTS = [
  ['manage-workspaces', 'every workspace: create, change, delete'],
  ['manage-projects', 'every project with its workspaces'],
  ['manage-policies', 'policies'],
  ['manage-membership', 'teams and members'],
  ['manage-agent-pools', 'agent pools'],
  ['read-workspaces', 'see every workspace'],
  ['read-projects', 'see every project'],
] as const;

const newTeam = (name: string, rights: Readonly<Record<string, boolean>>): object => ({
  data: { type: 'teams', attributes: { name, 'organization-access': rights } },
});

const memberBody = (username: string): object => ({ data: [{ type: 'users', id: username }] });

const Rights = ({ given = {} }: { given?: Readonly<Record<string, boolean>> }) => (
  <fieldset>
    <legend>Rights on the whole organization</legend>
    {RIGHTS.map(([name, words]) => (
      <label className="choice" key={name}>
        <input type="checkbox" name={name} defaultChecked={given[name] === true} /> {words}
      </label>
    ))}
  </fieldset>
);

const rightsIn = (isChecked: (name: string) => boolean): Record<string, boolean> =>
  Object.fromEntries(RIGHTS.map(([name]) => [name, isChecked(name)]));

const membersOf = (
  document: ListDocument<Team>,
  team: Resource<Team>,
): readonly Resource<User>[] => {
  const ids = (team.relationships?.['users']?.data ?? []) as readonly ResourceId[];
  return ids.flatMap(({ id }) => {
    const user = document.included?.find((one) => one.type === 'users' && one.id === id);
    return user === undefined ? [] : [user as unknown as Resource<User>];
  });
};

const TeamCard = ({
  team,
  members,
}: {
  team: Resource<Team>;
  members: readonly Resource<User>[];
}) => {
  const { id, attributes } = team;
  const { permissions, name } = attributes;
  const path = `teams/${id}/relationships/users`;
  const given = RIGHTS.filter(([right]) => attributes['organization-access'][right] === true);
  return (
    <Card
      title={name}
      actions={
        <span className="page-actions">
          {permissions['can-update-membership'] && (
            <ActionButton
              label="Add member"
              name={`Add member to ${name}`}
              className="small"
              title={`Add a member to ${name}`}
              confirm="Add"
              act={({ text }) =>
                callWorkspaces('POST', path, { body: memberBody(text('username')) })
              }
              commands={[workspacesCurl('POST', path, memberBody('…'))]}
            >
              <p>The user belongs to the organization already, and gets the rights of the team.</p>
              <label>
                User name
                <input name="username" required autoComplete="off" />
              </label>
            </ActionButton>
          )}
          {permissions['can-update-organization-access'] && name !== OWNERS && (
            <ActionButton
              label="Rights"
              name={`Rights of ${name}`}
              className="small"
              title={`Rights of ${name} on the whole organization`}
              confirm="Save"
              act={({ isChecked }) =>
                callWorkspaces('PATCH', `teams/${id}`, {
                  body: newTeam(name, rightsIn(isChecked)),
                })
              }
              commands={[
                workspacesCurl('PATCH', `teams/${id}`, newTeam(name, { 'manage-projects': true })),
              ]}
            >
              <Rights given={attributes['organization-access']} />
            </ActionButton>
          )}
          {permissions['can-destroy'] && name !== OWNERS && (
            <DeleteButton
              what={`the team ${name}`}
              name={`Delete ${name}`}
              path={`teams/${id}`}
              typed={name}
            >
              Its members lose what it gave them, and its tokens are refused at once.
            </DeleteButton>
          )}
        </span>
      }
    >
      <p className="lead">
        {name === OWNERS
          ? 'may do everything in the organization'
          : given.map(([, words]) => words).join('; ') || 'no right on the whole organization'}
      </p>
      {members.length === 0 ? (
        <Empty>
          {attributes['users-count'] === 0
            ? 'It has no member.'
            : counted(attributes['users-count'], 'member')}
        </Empty>
      ) : (
        <ul className="plain-list" aria-label={`Members of ${name}`}>
          {members.map((user) => (
            <li key={user.id} className="tag">
              {user.attributes.username}{' '}
              {permissions['can-update-membership'] && (
                <DeleteButton
                  label="Remove"
                  what={`${user.attributes.username} from ${name}`}
                  name={`Remove ${user.attributes.username} from ${name}`}
                  path={path}
                  body={memberBody(user.attributes.username)}
                >
                  The user stays in the organization and loses what this team gave.
                </DeleteButton>
              )}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
};

interface Membership {
  readonly email: string | null;
  readonly status: string;
  readonly 'created-at': string;
}

const inviteBody = (email: string): object => ({
  data: { type: 'organization-memberships', attributes: { email } },
});

const InviteMember = ({ organization }: { organization: string }) => {
  const path = `organizations/${encodeURIComponent(organization)}/organization-memberships`;
  return (
    <ActionButton
      label="Invite"
      title={`Invite somebody to ${organization}`}
      confirm="Invite"
      act={({ text }) => callWorkspaces('POST', path, { body: inviteBody(text('email')) })}
      commands={[workspacesCurl('POST', path, inviteBody('…'))]}
    >
      <p>
        The user of the address becomes a member. An address without a user gets an invitation by
        mail, where the installation sends mail, and stays invited until it is used.
      </p>
      <label>
        Mail address
        <input name="email" type="email" required autoComplete="off" />
      </label>
    </ActionButton>
  );
};

const Members = ({ organization }: { organization: string }) => {
  const path = `organizations/${encodeURIComponent(organization)}/organization-memberships?include=user`;
  return (
    <Card
      title="Members of the organization"
      actions={<InviteMember organization={organization} />}
    >
      <PagedList<Membership> path={path} empty="There is no member.">
        {(document) => (
          <DataTable
            label="Members of the organization"
            rows={document.data}
            keyOf={({ id }) => id}
            columns={[
              {
                title: 'User',
                isName: true,
                cell: (member) =>
                  includedOne<User>(document, member, 'user')?.attributes.username ?? member.id,
              },
              { title: 'Mail', cell: ({ attributes }) => attributes.email ?? '–' },
              { title: 'State', cell: ({ attributes }) => inWords(attributes.status) },
              { title: 'Since', cell: ({ attributes }) => shownTime(attributes['created-at']) },
              {
                title: 'Actions',
                isActions: true,
                cell: (member) => (
                  <DeleteButton
                    label={member.attributes.status === 'invited' ? 'Withdraw' : 'Remove'}
                    what={
                      member.attributes.status === 'invited'
                        ? 'this invitation'
                        : 'this member from the organization'
                    }
                    name={`${member.attributes.status === 'invited' ? 'Withdraw the invitation of' : 'Remove from the organization:'} ${member.attributes.email ?? member.id}`}
                    path={`organization-memberships/${member.id}`}
                  >
                    The user leaves all its teams and cannot use the organization any more. The last
                    owner cannot be removed.
                  </DeleteButton>
                ),
              },
            ]}
          />
        )}
      </PagedList>
      <Commands commands={[workspacesCurl('GET', path)]} />
    </Card>
  );
};

export const TeamsPage = () => {
  const { organization } = route.useParams();
  const path = `organizations/${encodeURIComponent(organization)}/teams`;
  const list = `${path}?include=users`;
  const may = useOrganizationPermissions(organization);
  return (
    <Page
      title="Teams"
      windowTitle={`Teams of ${organization}`}
      lead={`in ${organization}: rights are given to teams, and users get them as members.`}
      actions={
        may('can-create-team') && (
          <ActionButton
            label="Create team"
            title={`Create a team in ${organization}`}
            confirm="Create"
            tone="primary"
            act={({ text, isChecked }) =>
              callWorkspaces('POST', path, { body: newTeam(text('name'), rightsIn(isChecked)) })
            }
            commands={[workspacesCurl('POST', path, newTeam('…', { 'manage-workspaces': true }))]}
          >
            <label>
              Name
              <input name="name" required autoComplete="off" pattern="[A-Za-z0-9_\-]+" />
            </label>
            <Rights />
          </ActionButton>
        )
      }
    >
      <PagedList<Team>
        path={list}
        size={TEAMS_SHOWN}
        empty="There is no team that this token may see."
      >
        {(document) =>
          document.data.map((team) => (
            <Fragment key={team.id}>
              <TeamCard team={team} members={membersOf(document, team)} />
              {team.attributes.permissions['can-update-organization-access'] && (
                <NotificationsCard kind="teams" id={team.id} owner={team.attributes.name} />
              )}
            </Fragment>
          ))
        }
      </PagedList>
      <Commands commands={[workspacesCurl('GET', list)]} />
      {may('can-manage-users') && <Members organization={organization} />}
    </Page>
  );
};
