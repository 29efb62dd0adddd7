import { getRouteApi, useRouter } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { useDocument } from '../api/queries.ts';
import type { ListDocument, Resource } from '../api/workspaces-api.ts';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { FormActions, Input, Label, SelectField } from '../components/fields.tsx';
import { FilterForm, SearchButton } from '../components/filter-form.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Empty } from '../components/page.tsx';
import { Pager } from '../components/pager.tsx';
import type { RunAttributes } from '../runs/run.ts';
import { SavedViewsBar } from '../views/saved-views-bar.tsx';
import { FirstSteps } from './first-steps.tsx';
import { parseRunSearch, RUN_CHOICES, type RunSearch, runQuery } from './run-search.ts';
import { RunTable } from './run-table.tsx';
import { StartRun } from './start-run.tsx';
import type { WorkspaceAttributes } from './workspace.ts';

const route = getRouteApi('/app/$organization/workspaces/$workspace');
// The API allows 30 requests for the list of runs per minute.
const REFRESH_MS = 10_000;

/** Filters of the list; they are kept in the URL, so that a selection can be shared. */
const RunFilters = (props: { search: RunSearch; onChange: (next: RunSearch) => void }) => {
  const { runs, text = '' } = props.search;
  const [typed, setTyped] = useState(text);
  // Another address, such as a saved view, brings another text.
  useEffect(() => setTyped(text), [text]);
  const change = (choice: string | undefined): void =>
    props.onChange(parseRunSearch({ runs: choice, text: typed.trim() }));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    change(runs);
  };
  return (
    <FilterForm aria-label="Runs" onSubmit={submit}>
      <Label>
        Message, commit or person
        <Input type="search" value={typed} onChange={({ target }) => setTyped(target.value)} />
      </Label>
      <Label>
        Runs that
        <SelectField value={runs ?? ''} onChange={({ target }) => change(target.value)}>
          <option value="">All runs</option>
          {RUN_CHOICES.map(([choice, words]) => (
            <option key={choice} value={choice}>
              {words}
            </option>
          ))}
        </SelectField>
      </Label>
      <SearchButton />
    </FilterForm>
  );
};

export const RunsTab = (props: {
  organization: string;
  workspace: Resource<WorkspaceAttributes>;
}) => {
  const { organization, workspace } = props;
  const { name, permissions } = workspace.attributes;
  const search = parseRunSearch({ ...route.useSearch() });
  const navigate = route.useNavigate();
  const router = useRouter();
  const { page: _, ...filter } = search;
  const path = `workspaces/${workspace.id}/runs?${runQuery(search)}`;
  const query = useDocument<ListDocument<RunAttributes>>(path, {
    everyMs: REFRESH_MS,
    keepPrevious: true,
  });
  return (
    <>
      {workspace.attributes['execution-mode'] !== 'local' && (
        <FormActions>
          {permissions['can-queue-run'] && (
            <StartRun organization={organization} workspace={workspace} isDestroy={false} />
          )}
          {permissions['can-queue-destroy'] && (
            <StartRun organization={organization} workspace={workspace} isDestroy />
          )}
        </FormActions>
      )}
      <SavedViewsBar
        list="runs"
        filter={filter}
        parse={parseRunSearch}
        addressOf={(view) =>
          router.buildLocation({
            to: '/app/$organization/workspaces/$workspace',
            params: { organization, workspace: name },
            search: { tab: 'runs', ...view },
          }).href
        }
      />
      <RunFilters
        search={search}
        onChange={(next) => void navigate({ search: { tab: 'runs', ...next }, replace: true })}
      />
      <Loaded query={query}>
        {(document) =>
          document.data.length === 0 ? (
            Object.keys(search).length === 0 ? (
              <FirstSteps organization={organization} workspace={workspace} />
            ) : (
              <Empty>No run fits the search.</Empty>
            )
          ) : (
            <>
              <RunTable organization={organization} workspace={name} document={document} />
              {document.meta?.pagination && (
                <Pager
                  pagination={document.meta.pagination}
                  onPage={(page) => void navigate({ search: { tab: 'runs', ...search, page } })}
                />
              )}
            </>
          )
        }
      </Loaded>
      <Commands commands={[workspacesCurl('GET', path)]} />
    </>
  );
};
