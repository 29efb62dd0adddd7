/** The activity of an organization: who has changed what, and when. */
import { getRouteApi } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { useDocument } from '../api/queries.ts';
import type { ListDocument } from '../api/workspaces-api.ts';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { Input, Label, SelectField } from '../components/fields.tsx';
import { FilterForm, SearchButton } from '../components/filter-form.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Empty, Page } from '../components/page.tsx';
import { Pager } from '../components/pager.tsx';
import { type ActivitySearch, activityQuery, parseActivitySearch } from './activity-search.ts';
import { EventTable } from './event-table.tsx';
import { type AuditEvent, TYPE_WORDS } from './event-words.ts';

const route = getRouteApi('/app/$organization/activity');
const REFRESH_MS = 30_000;

/** The form has the filters of the address as they were when it was first shown. */
const Filters = (props: { search: ActivitySearch; onChange: (next: ActivitySearch) => void }) => {
  const { who, what, workspace, from, to } = props.search;
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const text = (name: string): string => (given.get(name) as string).trim();
    props.onChange(
      parseActivitySearch({
        who: text('who'),
        what: text('what'),
        workspace: text('workspace'),
        from: text('from'),
        to: text('to'),
      }),
    );
  };
  return (
    <FilterForm aria-label="Activity" onSubmit={submit}>
      <Label>
        User
        <Input name="who" type="search" autoComplete="off" defaultValue={who ?? ''} />
      </Label>
      <Label>
        What
        <SelectField name="what" defaultValue={what ?? ''}>
          <option value="">Everything</option>
          {Object.entries(TYPE_WORDS).map(([type, words]) => (
            <option key={type} value={type}>
              {words}
            </option>
          ))}
        </SelectField>
      </Label>
      <Label>
        Workspace
        <Input name="workspace" type="search" autoComplete="off" defaultValue={workspace ?? ''} />
      </Label>
      <Label>
        From
        <Input name="from" type="date" defaultValue={from ?? ''} />
      </Label>
      <Label>
        To
        <Input name="to" type="date" defaultValue={to ?? ''} />
      </Label>
      <SearchButton />
    </FilterForm>
  );
};

export const ActivityPage = () => {
  const { organization } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { page: _, ...filter } = search;
  const path = `organizations/${encodeURIComponent(organization)}/audit-events?${activityQuery(search)}`;
  const query = useDocument<ListDocument<AuditEvent>>(path, {
    everyMs: REFRESH_MS,
    keepPrevious: true,
  });
  return (
    <Page
      title="Activity"
      windowTitle={`Activity of ${organization}`}
      lead={`in ${organization}: who has changed what in the last 30 days. Only owners see it.`}
    >
      <Filters
        key={JSON.stringify(filter)}
        search={search}
        onChange={(next) => void navigate({ search: next })}
      />
      <Loaded query={query}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <Empty>
              {Object.keys(search).length === 0
                ? 'Nothing was changed in the last 30 days.'
                : 'No change fits the search.'}
            </Empty>
          ) : (
            <>
              <EventTable organization={organization} label="Activity" events={data} />
              {meta?.pagination && (
                <Pager
                  pagination={meta.pagination}
                  onPage={(page) => void navigate({ search: { ...filter, page } })}
                />
              )}
            </>
          )
        }
      </Loaded>
      <Commands commands={[workspacesCurl('GET', path)]} />
    </Page>
  );
};
