import { useState } from 'react';
import { useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { callWorkspaces, type ListDocument, type Resource } from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { formatTime } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty } from '../components/page.tsx';
import { Pager } from '../components/pager.tsx';
import { StateComparison, type StateVersion } from './state-comparison.tsx';
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
                    sensitive ? <em>sensitive</em> : <code>{JSON.stringify(value)}</code>,
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

const rollbackBody = (stateId: string): object => ({
  data: {
    type: 'state-versions',
    relationships: {
      'rollback-state-version': { data: { type: 'state-versions', id: stateId } },
    },
  },
});

export const StatesTab = (props: {
  organization: string;
  workspace: Resource<WorkspaceAttributes>;
}) => {
  const { organization, workspace } = props;
  const [page, setPage] = useState(1);
  const { name, permissions, locked } = workspace.attributes;
  const selection = `filter[organization][name]=${encodeURIComponent(organization)}&filter[workspace][name]=${encodeURIComponent(name)}`;
  const path = `state-versions?${selection}&page[size]=20&page[number]=${page}`;
  const query = useDocument<ListDocument<StateVersion>>(path, { keepPrevious: true });
  const newest = page === 1 ? query.data?.data[0] : undefined;
  return (
    <>
      {newest !== undefined && permissions['can-read-state-outputs'] && (
        <Outputs stateId={newest.id} />
      )}
      <Loaded query={query}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <Empty>No state has been stored in this workspace.</Empty>
          ) : (
            <>
              <DataTable
                label="States"
                rows={data}
                keyOf={({ id }) => id}
                columns={[
                  {
                    title: 'Serial',
                    isName: true,
                    cell: ({ attributes }) => String(attributes.serial),
                  },
                  { title: 'Stored', cell: (one) => formatTime(one.attributes['created-at']) },
                  { title: 'State', cell: ({ attributes }) => attributes.status },
                  {
                    title: 'Size',
                    cell: ({ attributes }) => `${attributes.size.toLocaleString()} B`,
                  },
                  { title: 'Version', cell: (one) => one.attributes['terraform-version'] ?? '–' },
                  {
                    title: 'Actions',
                    isActions: true,
                    cell: ({ id, attributes }) =>
                      !permissions['can-create-state-versions'] ||
                      id === newest?.id ||
                      attributes.status !== 'finalized' ? null : (
                        <ActionButton
                          label="Roll back to it"
                          name={`Roll back to serial ${attributes.serial}`}
                          className="small"
                          title={`Roll back to the state of serial ${attributes.serial}?`}
                          confirm="Roll back"
                          tone="danger"
                          act={() =>
                            callWorkspaces('PATCH', `workspaces/${workspace.id}/state-versions`, {
                              body: rollbackBody(id),
                            })
                          }
                          commands={[
                            workspacesCurl(
                              'PATCH',
                              `workspaces/${workspace.id}/state-versions`,
                              rollbackBody(id),
                            ),
                          ]}
                        >
                          <p>
                            A copy of it becomes the newest state. The infrastructure stays as it
                            is: the next plan shows the difference.
                            {!locked && ' The workspace has to be locked by you before.'}
                          </p>
                        </ActionButton>
                      ),
                  },
                ]}
              />
              {meta?.pagination && <Pager pagination={meta.pagination} onPage={setPage} />}
              {data.length > 1 && (
                <StateComparison key={data.map(({ id }) => id).join()} states={data} />
              )}
            </>
          )
        }
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
