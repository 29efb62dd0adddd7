/** Teams of an organization, and all members of the organization. */
import { getRouteApi } from '@tanstack/react-router';
import { callWorkspaces } from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { Input, Label } from '../components/fields.tsx';
import { Page } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { useOrganizationPermissions } from '../organizations/organization-permissions.ts';
import { MembersCard } from './members-card.tsx';
import { RightFields } from './right-fields.tsx';
import { NO_RIGHTS, rightsIn, rightsInWords, type Team, teamBody } from './team.ts';

const route = getRouteApi('/app/$organization/teams');

const CreateTeam = ({ organization, path }: { organization: string; path: string }) => (
  <ActionButton
    label="Create team"
    title={`Create a team in ${organization}`}
    confirm="Create"
    tone="primary"
    act={({ text, isChecked }) =>
      callWorkspaces('POST', path, { body: teamBody(text('name'), rightsIn(isChecked)) })
    }
    commands={[workspacesCurl('POST', path, teamBody('…', { 'manage-workspaces': true }))]}
  >
    <Label>
      Name
      <Input name="name" required autoComplete="off" pattern="[A-Za-z0-9_\-]+" />
    </Label>
    <RightFields given={NO_RIGHTS} />
  </ActionButton>
);

export const TeamsPage = () => {
  const { organization } = route.useParams();
  const path = `organizations/${encodeURIComponent(organization)}/teams`;
  const may = useOrganizationPermissions(organization);
  return (
    <Page
      title="Teams"
      windowTitle={`Teams of ${organization}`}
      lead={`in ${organization}: rights are given to teams, and users get them as members.`}
      actions={may('can-create-team') && <CreateTeam organization={organization} path={path} />}
    >
      <PagedList<Team> name="teams" path={path} empty="There is no team that this token may see.">
        {({ data }) => (
          <DataTable
            label="Teams"
            rows={data}
            keyOf={({ id }) => id}
            columns={[
              {
                title: 'Name',
                isName: true,
                cell: ({ id, attributes }) => (
                  <PageLink to="/app/$organization/teams/$team" params={{ organization, team: id }}>
                    {attributes.name}
                  </PageLink>
                ),
              },
              {
                title: 'Members',
                cell: ({ attributes }) => attributes['users-count'].toLocaleString(),
              },
              { title: 'May do', cell: ({ attributes }) => rightsInWords(attributes) },
            ]}
          />
        )}
      </PagedList>
      <Commands commands={[workspacesCurl('GET', path)]} />
      {may('can-manage-users') && <MembersCard organization={organization} />}
    </Page>
  );
};
