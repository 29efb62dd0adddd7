/** Workspaces that the person has locked, and may have forgotten to unlock. */
import { useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import type { ListDocument } from '../api/workspaces-api.ts';
import { DataTable } from '../components/data-table.tsx';
import { formatDistance, formatExactTime } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';

const REFRESH_MS = 60_000;

/** Nothing while there is no lock. */
export const MyLocks = () => {
  const query = useDocument<ListDocument<ResourceAttributes['workspace-locks']>>(
    'account/workspace-locks',
    { everyMs: REFRESH_MS },
  );
  if (query.error === null && (query.data?.data.length ?? 0) === 0) return null;
  return (
    <Card title="Locks you hold">
      <Loaded query={query}>
        {({ data }) => (
          <DataTable
            label="Locks you hold"
            rows={data}
            keyOf={({ id }) => id}
            columns={[
              {
                title: 'Workspace',
                isName: true,
                cell: ({ attributes }) => (
                  <PageLink
                    to="/app/$organization/workspaces/$workspace"
                    params={{
                      organization: attributes['organization-name'],
                      workspace: attributes['workspace-name'],
                    }}
                  >
                    {attributes['workspace-name']}
                  </PageLink>
                ),
              },
              { title: 'Organization', cell: ({ attributes }) => attributes['organization-name'] },
              { title: 'Reason', cell: ({ attributes }) => attributes.reason || '–' },
              {
                title: 'Locked',
                isUnbroken: true,
                cell: ({ attributes: { 'locked-at': at } }) => (
                  <time dateTime={at} title={formatExactTime(at)}>
                    {formatDistance(at, Date.now())}
                  </time>
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
};
