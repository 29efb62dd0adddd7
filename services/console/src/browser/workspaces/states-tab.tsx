import { useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import type { ListDocument, Resource } from '../api/workspaces-api.ts';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { useListPage } from '../components/list-page.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty } from '../components/page.tsx';
import { Pager } from '../components/pager.tsx';
import { Code } from '../components/text.tsx';
import { StateComparison, type StateVersion } from './state-comparison.tsx';
import { StateTable } from './state-table.tsx';
import type { WorkspaceAttributes } from './workspace.ts';

type Output = ResourceAttributes['state-version-outputs'];

const Outputs = ({ stateId }: { stateId: string }) => {
  const path = `state-versions/${stateId}/outputs?page[size]=100`;
  const query = useDocument<ListDocument<Output>>(path);
  return (
    <Card title="Outputs of the current state">
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>The state has no outputs.</Empty>
          ) : (
            <DataTable
              label="Outputs"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                { title: 'Name', isName: true, cell: ({ attributes }) => attributes.name },
                { title: 'Type', cell: ({ attributes }) => attributes.type },
                {
                  title: 'Value',
                  cell: ({ attributes: { sensitive, value } }) =>
                    sensitive ? <em>sensitive</em> : <Code>{JSON.stringify(value)}</Code>,
                },
              ]}
            />
          )
        }
      </Loaded>
      <Commands
        commands={[workspacesCurl('GET', path), { tool: 'terraform', text: 'terraform output' }]}
      />
    </Card>
  );
};

export const StatesTab = (props: {
  organization: string;
  workspace: Resource<WorkspaceAttributes>;
}) => {
  const { organization, workspace } = props;
  const [page, turn] = useListPage('states');
  const { name, permissions } = workspace.attributes;
  const selection = `filter[organization][name]=${encodeURIComponent(organization)}&filter[workspace][name]=${encodeURIComponent(name)}`;
  const path = `state-versions?${selection}&page[size]=20&page[number]=${page}&include=created_by`;
  const query = useDocument<ListDocument<StateVersion>>(path, { keepPrevious: true });
  const newest = page === 1 ? query.data?.data[0] : undefined;
  return (
    <>
      {newest !== undefined && permissions['can-read-state-outputs'] && (
        <Outputs stateId={newest.id} />
      )}
      <Loaded query={query}>
        {(document) => {
          const { data, meta } = document;
          return data.length === 0 ? (
            <Empty>No state has been stored in this workspace.</Empty>
          ) : (
            <>
              <StateTable
                organization={organization}
                workspace={workspace}
                document={document}
                newestId={newest?.id}
              />
              {meta?.pagination && <Pager pagination={meta.pagination} onPage={turn} />}
              {data.length > 1 && (
                <StateComparison key={data.map(({ id }) => id).join()} states={data} />
              )}
            </>
          );
        }}
      </Loaded>
      <Commands
        commands={[
          workspacesCurl('GET', path),
          { tool: 'terraform', text: 'terraform state pull' },
        ]}
      />
    </>
  );
};
