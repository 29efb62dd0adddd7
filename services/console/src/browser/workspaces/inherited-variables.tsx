/** Variables that a workspace inherits from variable sets. */
import { useDocument } from '../api/queries.ts';
import type { ListDocument, Resource } from '../api/workspaces-api.ts';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty } from '../components/page.tsx';
import { nameAndValueColumns, type ShownVariable } from '../variables/variable-columns.tsx';

const related = ({ relationships }: Resource<ShownVariable>, name: string): string | undefined => {
  const data = relationships?.[name]?.data;
  return data === undefined || data === null || Array.isArray(data)
    ? undefined
    : (data as { id: string }).id;
};

export const InheritedVariables = ({ workspaceId }: { workspaceId: string }) => {
  const path = `workspaces/${workspaceId}/all-vars`;
  const query = useDocument<ListDocument<ShownVariable>>(path);
  return (
    <Card title="From variable sets">
      <Loaded query={query}>
        {({ data }) => {
          const inherited = data.filter((one) => related(one, 'varset') !== undefined);
          return inherited.length === 0 ? (
            <Empty>No variable set is applied to this workspace.</Empty>
          ) : (
            <DataTable
              label="Variables of sets"
              rows={inherited}
              keyOf={({ id }) => id}
              columns={[
                ...nameAndValueColumns,
                {
                  title: 'Effective',
                  cell: (one) =>
                    related(one, 'overwriter') === undefined ? 'yes' : 'no, another overwrites it',
                },
              ]}
            />
          );
        }}
      </Loaded>
      <Commands commands={[workspacesCurl('GET', path)]} />
    </Card>
  );
};
