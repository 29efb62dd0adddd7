/** One team: its rights, its members, its token and its notifications. */
import { getRouteApi } from '@tanstack/react-router';
import { useDocument } from '../api/queries.ts';
import {
  callWorkspaces,
  type OneDocument,
  type Resource,
  type ResourceId,
} from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { ApiTokens } from '../components/api-tokens.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import { Input, Label } from '../components/fields.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Card, Page } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { EditButton } from '../editing/edit-button.tsx';
import { workspaceTarget } from '../editing/edit-target.ts';
import { NotificationsCard } from '../notifications/notifications-card.tsx';
import { RightFields } from './right-fields.tsx';
import { memberBody, OWNERS, rightsInWords, type Team, type User } from './team.ts';

const route = getRouteApi('/app/$organization/teams/$team');

const ChangeRights = ({ team }: { team: Resource<Team> }) => (
  <EditButton
    edits="team-rights"
    label="Change the rights"
    title={`Rights of ${team.attributes.name} on the whole organization`}
    target={workspaceTarget<Team>(`teams/${team.id}`, 'teams')}
    valuesOf={({ attributes }) => attributes['organization-access']}
    bodyOf={(changed) => ({ attributes: { 'organization-access': changed } })}
    fields={(given) => <RightFields given={given} />}
  />
);

const Members = (props: { team: Resource<Team>; members: readonly Resource<User>[] }) => {
  const { id, attributes } = props.team;
  const { name, permissions } = attributes;
  const path = `teams/${id}/relationships/users`;
  const mayChange = permissions['can-update-membership'];
  return (
    <Card
      title="Members"
      actions={
        mayChange && (
          <ActionButton
            label="Add member"
            title={`Add a member to ${name}`}
            confirm="Add"
            act={({ text }) => callWorkspaces('POST', path, { body: memberBody(text('username')) })}
            commands={[workspacesCurl('POST', path, memberBody('…'))]}
          >
            <p>The user belongs to the organization already, and gets the rights of the team.</p>
            <Label>
              User name
              <Input name="username" required autoComplete="off" />
            </Label>
          </ActionButton>
        )
      }
    >
      <DataTable
        label="Members"
        rows={props.members}
        keyOf={(user) => user.id}
        empty="It has no member."
        columns={[
          { title: 'User', isName: true, cell: (user) => user.attributes.username },
          {
            title: 'Actions',
            isActions: true,
            cell: ({ attributes: { username } }) =>
              mayChange && (
                <DeleteButton
                  label="Remove"
                  what={`${username} from ${name}`}
                  name={`Remove ${username}`}
                  path={path}
                  body={memberBody(username)}
                >
                  The user stays in the organization and loses what this team gave.
                </DeleteButton>
              ),
          },
        ]}
      />
      <Commands commands={[workspacesCurl('GET', `teams/${id}?include=users`)]} />
    </Card>
  );
};

const ShownTeam = ({ document }: { document: OneDocument<Team> }) => {
  const { organization } = route.useParams();
  const navigate = route.useNavigate();
  const team = document.data;
  const { name, permissions } = team.attributes;
  const ids = (team.relationships?.['users']?.data ?? []) as readonly ResourceId[];
  const members = ids.flatMap(({ id }) => {
    const user = document.included?.find((one) => one.type === 'users' && one.id === id);
    return user === undefined ? [] : [user as unknown as Resource<User>];
  });
  const mayChange = permissions['can-update-organization-access'];
  return (
    <Page
      title={name}
      windowTitle={`Team ${name} of ${organization}`}
      lead={
        <PageLink to="/app/$organization/teams" params={{ organization }}>
          Teams of {organization}
        </PageLink>
      }
      actions={
        permissions['can-destroy'] &&
        name !== OWNERS && (
          <DeleteButton
            what={`the team ${name}`}
            name={`Delete ${name}`}
            path={`teams/${team.id}`}
            typed={name}
            onDone={() =>
              void navigate({ to: '/app/$organization/teams', params: { organization } })
            }
          >
            Its members lose what it gave them, and its token is refused at once.
          </DeleteButton>
        )
      }
    >
      <Card title="Rights">
        <p>It may do: {rightsInWords(team.attributes)}.</p>
        {mayChange && name !== OWNERS && <ChangeRights team={team} />}
      </Card>
      <Members team={team} members={members} />
      {mayChange && (
        <Card title="Tokens">
          <ApiTokens
            path={`teams/${team.id}/authentication-tokens`}
            owner={name}
            purpose="Tools that belong to no single user may do with it what the team may do."
            empty="The team has no token."
            loss="Tools that use it are refused from now on."
          />
        </Card>
      )}
      {mayChange && <NotificationsCard kind="teams" id={team.id} owner={name} />}
    </Page>
  );
};

export const TeamPage = () => {
  const { team: teamId } = route.useParams();
  const query = useDocument<OneDocument<Team>>(`teams/${encodeURIComponent(teamId)}?include=users`);
  return <Loaded query={query}>{(document) => <ShownTeam document={document} />}</Loaded>;
};
