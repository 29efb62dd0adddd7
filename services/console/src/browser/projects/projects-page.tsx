/** Projects of an organization: groups of workspaces with their own access rights and settings. */

import { getRouteApi } from '@tanstack/react-router';
import { useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { callWorkspaces, type ListDocument, type Resource } from '../api/workspaces-api.ts';
import { ActionButton, type Fields } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import { Input, Label } from '../components/fields.tsx';
import { formatTime } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Empty, Page } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { Pager } from '../components/pager.tsx';
import { EditButton } from '../editing/edit-button.tsx';
import { workspaceTarget } from '../editing/edit-target.ts';
import { useOrganizationPermissions } from '../organizations/organization-permissions.ts';
import { parseProjectSearch } from './project-search.ts';

const route = getRouteApi('/app/$organization/projects');

type Project = ResourceAttributes['projects'];

const bodyOf = ({ text }: Pick<Fields, 'text'>): object => ({
  data: {
    type: 'projects',
    attributes: { name: text('name'), description: text('description') },
  },
});
const EXAMPLE = bodyOf({ text: () => '…' });

const valuesOf = ({ attributes }: Resource<Project>) => ({
  name: attributes.name,
  description: attributes.description ?? '',
});

const ProjectFields = (values: ReturnType<typeof valuesOf>) => (
  <>
    <Label>
      Name
      <Input name="name" required autoComplete="off" defaultValue={values.name} />
    </Label>
    <Label>
      Description (optional)
      <Input name="description" autoComplete="off" defaultValue={values.description} />
    </Label>
  </>
);

export const ProjectsPage = () => {
  const { organization } = route.useParams();
  const { sort = 'name', page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const path = `organizations/${encodeURIComponent(organization)}/projects`;
  const list = `${path}?sort=${sort}&page[size]=50&page[number]=${page}`;
  const query = useDocument<ListDocument<Project>>(list, { keepPrevious: true });
  const may = useOrganizationPermissions(organization);
  return (
    <Page
      title="Projects"
      windowTitle={`Projects of ${organization}`}
      lead={`in ${organization}: a project groups workspaces, and teams get rights on all of them.`}
      actions={
        may('can-create-project') && (
          <ActionButton
            label="Create project"
            opensAt="create-project"
            title={`Create a project in ${organization}`}
            confirm="Create"
            tone="primary"
            act={(fields) => callWorkspaces('POST', path, { body: bodyOf(fields) })}
            commands={[workspacesCurl('POST', path, EXAMPLE)]}
          >
            <ProjectFields name="" description="" />
          </ActionButton>
        )
      }
    >
      <Loaded query={query}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <Empty>There is no project that this token may see.</Empty>
          ) : (
            <>
              <DataTable
                label="Projects"
                rows={data}
                keyOf={({ id }) => id}
                order={{
                  by: sort,
                  onChange: (by) =>
                    void navigate({ search: parseProjectSearch({ sort: by }), replace: true }),
                }}
                columns={[
                  {
                    title: 'Name',
                    isName: true,
                    sort: 'name',
                    cell: ({ id, attributes }) => (
                      <PageLink
                        to="/app/$organization/workspaces"
                        params={{ organization }}
                        search={{ project: id }}
                      >
                        {attributes.name}
                      </PageLink>
                    ),
                  },
                  { title: 'Description', cell: ({ attributes }) => attributes.description || '–' },
                  {
                    title: 'Workspaces',
                    cell: ({ attributes }) =>
                      attributes['workspace-count']?.toLocaleString() ?? '–',
                  },
                  {
                    title: 'Created',
                    cell: ({ attributes }) => formatTime(attributes['created-at']),
                  },
                  {
                    title: 'Actions',
                    isActions: true,
                    cell: ({ id, attributes }) => (
                      <>
                        {attributes.permissions?.['can-update'] === true && (
                          <EditButton
                            edits="project"
                            label="Edit"
                            name={`Edit ${attributes.name}`}
                            look="small"
                            title={`Edit the project ${attributes.name}`}
                            target={workspaceTarget<Project>(`projects/${id}`, 'projects')}
                            valuesOf={valuesOf}
                            bodyOf={(changed) => ({ attributes: changed })}
                            fields={ProjectFields}
                          />
                        )}
                        {attributes.permissions?.['can-destroy'] === true && (
                          <DeleteButton
                            what={`the project ${attributes.name}`}
                            name={`Delete ${attributes.name}`}
                            path={`projects/${id}`}
                          >
                            Only an empty project can be deleted. Rights and variable sets that were
                            given to it end.
                          </DeleteButton>
                        )}
                      </>
                    ),
                  },
                ]}
              />
              {meta?.pagination && (
                <Pager
                  pagination={meta.pagination}
                  onPage={(next) =>
                    void navigate({ search: parseProjectSearch({ sort, page: next }) })
                  }
                />
              )}
            </>
          )
        }
      </Loaded>
      <Commands commands={[workspacesCurl('GET', list)]} />
    </Page>
  );
};
