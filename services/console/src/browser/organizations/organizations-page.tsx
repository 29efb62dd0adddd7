import { useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { callWorkspaces, type ListDocument } from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { Input, Label } from '../components/fields.tsx';
import { formatTime } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty, Page } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { SwitchButtons, SwitchState, useIsSiteAdministrator } from './site-switches.tsx';

type Organization = ResourceAttributes['organizations'];

const bodyOf = (name: string, email: string): object => ({
  data: { type: 'organizations', attributes: { name, email } },
});

const CreateOrganization = () => (
  <ActionButton
    label="Create organization"
    title="Create an organization"
    confirm="Create"
    tone="primary"
    act={(fields) =>
      callWorkspaces('POST', 'organizations', {
        body: bodyOf(fields.text('name'), fields.text('email')),
      })
    }
    commands={[workspacesCurl('POST', 'organizations', bodyOf('…', '…'))]}
  >
    <Label>
      Name
      <Input name="name" required autoComplete="off" pattern="[A-Za-z0-9_\-]+" />
    </Label>
    <Label>
      Address for mail
      <Input name="email" type="email" required autoComplete="off" />
    </Label>
  </ActionButton>
);

/** Those too in which the administrator has no part. */
const AllOrganizations = () => (
  <Card title="All organizations of this site">
    <PagedList<Organization>
      name="organizations"
      path="admin/organizations"
      empty="There is no organization."
    >
      {({ data }) => (
        <DataTable
          label="All organizations of this site"
          rows={data}
          keyOf={({ id }) => id}
          columns={[
            { title: 'Name', isName: true, cell: ({ id }) => id },
            { title: 'Mail', cell: ({ attributes }) => attributes.email ?? '–' },
            { title: 'State', cell: ({ attributes }) => <SwitchState attributes={attributes} /> },
            {
              title: 'Actions',
              isActions: true,
              cell: ({ id, attributes }) => (
                <SwitchButtons type="organizations" id={id} name={id} attributes={attributes} />
              ),
            },
          ]}
        />
      )}
    </PagedList>
    <Commands commands={[workspacesCurl('GET', 'admin/organizations')]} />
  </Card>
);

export const OrganizationsPage = () => {
  const query = useDocument<ListDocument<Organization>>('organizations?page[size]=100');
  const isSiteAdministrator = useIsSiteAdministrator();
  return (
    <Page
      title="Organizations"
      lead="An organization owns workspaces, projects, teams and agent pools."
      actions={isSiteAdministrator && <CreateOrganization />}
    >
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>There is no organization that this token may see.</Empty>
          ) : (
            <DataTable
              label="Organizations"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: 'Name',
                  isName: true,
                  cell: ({ id }) => (
                    <PageLink to="/app/$organization/workspaces" params={{ organization: id }}>
                      {id}
                    </PageLink>
                  ),
                },
                { title: 'Mail', cell: ({ attributes }) => attributes.email ?? '–' },
                {
                  title: 'Runs are executed',
                  cell: ({ attributes }) => attributes['default-execution-mode'],
                },
                {
                  title: 'Created',
                  cell: ({ attributes }) => formatTime(attributes['created-at']),
                },
              ]}
            />
          )
        }
      </Loaded>
      <Commands commands={[workspacesCurl('GET', 'organizations')]} />
      {isSiteAdministrator && <AllOrganizations />}
    </Page>
  );
};
