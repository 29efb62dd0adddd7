/** Runs that need the person: those that wait for a decision, and those that have failed since yesterday. */
import { useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { includedOne, type ListDocument, type Resource } from '../api/workspaces-api.ts';
import { DataTable } from '../components/data-table.tsx';
import { formatDistance, formatExactTime, inWords } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { Pill } from '../components/pill.tsx';
import { PartHeading } from '../components/text.tsx';
import { type RunAttributes, runTone } from '../runs/run.ts';

// The API allows 30 requests for lists of runs per minute.
const REFRESH_MS = 60_000;
const MAX_ORGANIZATIONS = 5;
const RECENT_MS = 24 * 3_600_000;

type Run = Resource<RunAttributes>;
type RunList = ListDocument<RunAttributes>;

/** Waits for this person: one who may not apply it has nothing to decide. */
const waitsForMe = ({ attributes: { actions, permissions } }: Run): boolean =>
  actions['is-confirmable'] && permissions['can-apply'];

const failedAt = ({ attributes }: Run): string =>
  attributes['status-timestamps']['errored-at'] ?? attributes['created-at'];

const hasFailedRecently =
  (nowMs: number) =>
  (run: Run): boolean =>
    nowMs - Date.parse(failedAt(run)) < RECENT_MS;

const Runs = (props: {
  organization: string;
  title: string;
  /** Statuses that the API filters by. */
  statuses: string;
  isShown: (run: Run) => boolean;
  empty: string;
}) => {
  const { organization, title, statuses, isShown, empty } = props;
  const path = `organizations/${encodeURIComponent(organization)}/runs`;
  const query = useDocument<RunList>(
    `${path}?filter[status]=${statuses}&include=workspace&page[size]=50`,
    { everyMs: REFRESH_MS },
  );
  const workspaceOf = (run: Run): string =>
    (query.data && includedOne<{ name: string }>(query.data, run, 'workspace'))?.attributes.name ??
    '';
  return (
    <>
      <PartHeading>{title}</PartHeading>
      <Loaded query={query}>
        {({ data }) => (
          <DataTable
            label={`${title}, ${organization}`}
            rows={data.filter(isShown)}
            keyOf={({ id }) => id}
            empty={empty}
            columns={[
              {
                title: 'Run',
                isName: true,
                cell: (run) => (
                  <PageLink
                    to="/app/$organization/$workspace/runs/$run"
                    params={{ organization, workspace: workspaceOf(run), run: run.id }}
                  >
                    {run.attributes.message || run.id}
                  </PageLink>
                ),
              },
              { title: 'Workspace', cell: workspaceOf },
              {
                title: 'State',
                isUnbroken: true,
                cell: ({ attributes: { status } }) => (
                  <Pill tone={runTone(status)}>{inWords(status)}</Pill>
                ),
              },
              {
                title: 'Started',
                isUnbroken: true,
                cell: ({ attributes }) => (
                  <time
                    dateTime={attributes['created-at']}
                    title={formatExactTime(attributes['created-at'])}
                  >
                    {formatDistance(attributes['created-at'], Date.now())}
                  </time>
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </>
  );
};

const OrganizationRuns = ({ organization }: { organization: string }) => (
  <Card
    title={`Runs of ${organization}`}
    actions={
      <PageLink to="/app/$organization/workspaces" params={{ organization }}>
        Workspaces of {organization}
      </PageLink>
    }
  >
    <Runs
      organization={organization}
      title="Waiting for you"
      statuses="planned,planned_and_saved"
      isShown={waitsForMe}
      empty="No run waits for you."
    />
    <Runs
      organization={organization}
      title="Failed in the last day"
      statuses="errored"
      isShown={hasFailedRecently(Date.now())}
      empty="No run has failed."
    />
  </Card>
);

/** A card for each organization, up to a number that the API allows to be read. */
export const MyRuns = () => {
  const query = useDocument<ListDocument<ResourceAttributes['organizations']>>(
    `organizations?page[size]=${MAX_ORGANIZATIONS}`,
  );
  return (
    <Loaded query={query}>
      {({ data, meta }) => (
        <>
          {data.map(({ id }) => (
            <OrganizationRuns key={id} organization={id} />
          ))}
          {(meta?.pagination?.['total-count'] ?? 0) > data.length && (
            <p>
              <PageLink to="/app">All organizations</PageLink>
            </p>
          )}
        </>
      )}
    </Loaded>
  );
};
