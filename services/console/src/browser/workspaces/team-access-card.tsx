/** The access of teams to a workspace. */
import { useDocument } from '../api/queries.ts';
import { callWorkspaces, type ListDocument, type Resource } from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty } from '../components/page.tsx';
import type { CardProps } from './sharing-cards.tsx';

const LEVELS = {
  read: 'read: sees runs, variables and states',
  plan: 'plan: also starts plans',
  write: 'write: also applies, locks and sets variables',
  admin: 'admin: also changes settings and team access, and deletes',
} as const;

interface Grant {
  readonly access: string;
}

const LevelSelect = ({ value = 'read' }: { value?: string }) => (
  <label>
    Access
    <select name="access" defaultValue={value}>
      {Object.entries(LEVELS).map(([level, words]) => (
        <option key={level} value={level}>
          {words}
        </option>
      ))}
    </select>
  </label>
);

const teamIdOf = ({ relationships }: Resource<Grant>): string =>
  (relationships?.['team']?.data as { id: string } | undefined)?.id ?? '';

export const TeamAccessCard = ({ organization, workspace }: CardProps) => {
  const list = `team-workspaces?filter[workspace][id]=${workspace.id}&page[size]=100`;
  const query = useDocument<ListDocument<Grant>>(list);
  const teams = useDocument<ListDocument<{ name: string }>>(
    `organizations/${encodeURIComponent(organization)}/teams?page[size]=100`,
  );
  const nameOf = (id: string): string =>
    teams.data?.data.find((team) => team.id === id)?.attributes.name ?? id;
  const given = query.data?.data.map(teamIdOf) ?? [];
  const mayChange = workspace.attributes.permissions['can-update'];
  const newBody = (teamId: string, access: string): object => ({
    data: {
      type: 'team-workspaces',
      attributes: { access },
      relationships: {
        team: { data: { type: 'teams', id: teamId } },
        workspace: { data: { type: 'workspaces', id: workspace.id } },
      },
    },
  });
  const levelBody = (access: string): object => ({
    data: { type: 'team-workspaces', attributes: { access } },
  });
  return (
    <Card
      title="Teams"
      actions={
        mayChange && (
          <ActionButton
            label="Give a team access"
            title={`Give a team access to ${workspace.attributes.name}`}
            confirm="Give access"
            act={({ text }) =>
              callWorkspaces('POST', 'team-workspaces', {
                body: newBody(text('team'), text('access')),
              })
            }
            commands={[workspacesCurl('POST', 'team-workspaces', newBody('team-…', 'read'))]}
          >
            <label>
              Team
              <select name="team" required>
                {teams.data?.data
                  .filter(
                    ({ id, attributes }) => !given.includes(id) && attributes.name !== 'owners',
                  )
                  .map(({ id, attributes }) => (
                    <option key={id} value={id}>
                      {attributes.name}
                    </option>
                  ))}
              </select>
            </label>
            <LevelSelect />
          </ActionButton>
        )
      }
    >
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>
              Only owners, and teams with rights on the whole organization or project, may use it.
            </Empty>
          ) : (
            <DataTable
              label="Teams"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                { title: 'Team', isName: true, cell: (grant) => nameOf(teamIdOf(grant)) },
                { title: 'Access', cell: ({ attributes }) => attributes.access },
                {
                  title: 'Actions',
                  isActions: true,
                  cell: (grant) =>
                    mayChange && (
                      <>
                        <ActionButton
                          label="Change"
                          name={`Change the access of ${nameOf(teamIdOf(grant))}`}
                          className="small"
                          title={`Change the access of ${nameOf(teamIdOf(grant))}`}
                          confirm="Save"
                          act={({ text }) =>
                            callWorkspaces('PATCH', `team-workspaces/${grant.id}`, {
                              body: levelBody(text('access')),
                            })
                          }
                          commands={[
                            workspacesCurl(
                              'PATCH',
                              `team-workspaces/${grant.id}`,
                              levelBody('plan'),
                            ),
                          ]}
                        >
                          <LevelSelect value={grant.attributes.access} />
                        </ActionButton>
                        <DeleteButton
                          label="Remove"
                          what={`the access of ${nameOf(teamIdOf(grant))}`}
                          name={`Remove ${nameOf(teamIdOf(grant))}`}
                          path={`team-workspaces/${grant.id}`}
                        >
                          Its members keep only what other teams, the project and the organization
                          give them.
                        </DeleteButton>
                      </>
                    ),
                },
              ]}
            />
          )
        }
      </Loaded>
      <Commands commands={[workspacesCurl('GET', list)]} />
    </Card>
  );
};
