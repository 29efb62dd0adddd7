/** The newest changes in the organizations that the person owns, by whoever made them. */
import { EventTable } from '../activity/event-table.tsx';
import type { AuditEvent } from '../activity/event-words.ts';
import { useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import type { ListDocument } from '../api/workspaces-api.ts';
import { Card } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';

const REFRESH_MS = 60_000;
const MAX_ORGANIZATIONS = 5;
const SHOWN = 5;

/** Nothing while there is no change. */
const OrganizationChanges = ({ organization }: { organization: string }) => {
  const path = `organizations/${encodeURIComponent(organization)}/audit-events`;
  const { data } = useDocument<ListDocument<AuditEvent>>(`${path}?page[size]=${SHOWN}`, {
    everyMs: REFRESH_MS,
  });
  if (data === undefined || data.data.length === 0) return null;
  return (
    <Card
      title={`Recent changes in ${organization}`}
      actions={
        <PageLink to="/app/$organization/activity" params={{ organization }}>
          Activity of {organization}
        </PageLink>
      }
    >
      <EventTable
        organization={organization}
        label={`Recent changes in ${organization}`}
        events={data.data}
      />
    </Card>
  );
};

/** A card for each organization of the first ones that lets the person see its activity. */
export const RecentChanges = () => {
  const { data } = useDocument<ListDocument<ResourceAttributes['organizations']>>(
    `organizations?page[size]=${MAX_ORGANIZATIONS}`,
  );
  return data?.data
    .filter(({ attributes }) => attributes.permissions['can-read-audit-trail'])
    .map(({ id }) => <OrganizationChanges key={id} organization={id} />);
};
