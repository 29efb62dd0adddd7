import { getRouteApi, Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useDocument } from '../api/queries.ts';
import {
  callWorkspaces,
  includedOne,
  type ListDocument,
  type Resource,
} from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { formatDistance, inWords } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Empty, Page } from '../components/page.tsx';
import { Pager } from '../components/pager.tsx';
import { Pill } from '../components/pill.tsx';
import { useOrganizationPermissions } from '../organizations/organization-permissions.ts';
import { type RunAttributes, runTone } from '../runs/run.ts';
import type { WorkspaceAttributes } from './workspace.ts';
import { SORTS, type Sort, toApiQuery, type WorkspaceSearch } from './workspace-search.ts';

const route = getRouteApi('/app/$organization/workspaces');
const REFRESH_MS = 15_000;

const STATUSES = [
  'pending',
  'planning',
  'planned',
  'confirmed',
  'applying',
  'applied',
  'planned_and_finished',
  'discarded',
  'errored',
  'canceled',
];

const SORT_NAMES: Readonly<Record<Sort, string>> = {
  name: 'Name',
  '-name': 'Name, from the end',
  '-latest-change-at': 'Newest change first',
  '-current-run.created-at': 'Newest run first',
};

interface Named {
  readonly name: string;
}

/** Filters of the list; they are kept in the URL, so that a selection can be shared. */
const Selection = (props: {
  search: WorkspaceSearch;
  onChange: (next: WorkspaceSearch) => void;
}) => {
  const { search, onChange } = props;
  const { organization } = route.useParams();
  const projects = useDocument<ListDocument<Named>>(
    `organizations/${encodeURIComponent(organization)}/projects?page[size]=100`,
  );
  const [name, setName] = useState(search.name ?? '');
  const [tags, setTags] = useState(search.tags ?? '');
  // A change of one filter also takes the texts that were typed before it.
  const change = (part: WorkspaceSearch = {}): void => {
    const { page: _, ...rest } = search;
    onChange({ ...rest, name, tags, ...part });
  };
  /** Leaving a field that was not changed keeps the page of the list. */
  const applyTexts = (): void => {
    if (name !== (search.name ?? '') || tags !== (search.tags ?? '')) change();
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    change();
  };
  return (
    <form className="selection" role="search" onSubmit={submit}>
      <label>
        Name
        <input
          type="search"
          value={name}
          onChange={({ target }) => setName(target.value)}
          onBlur={applyTexts}
        />
      </label>
      <label>
        Tags
        <input
          type="search"
          placeholder="one,two"
          value={tags}
          onChange={({ target }) => setTags(target.value)}
          onBlur={applyTexts}
        />
      </label>
      <label>
        Project
        <select
          value={search.project ?? ''}
          onChange={({ target }) => change({ project: target.value })}
        >
          <option value="">all</option>
          {projects.data?.data.map(({ id, attributes }) => (
            <option key={id} value={id}>
              {attributes.name}
            </option>
          ))}
        </select>
      </label>
      <label>
        Current run
        <select
          value={search.status ?? ''}
          onChange={({ target }) => change({ status: target.value })}
        >
          <option value="">any</option>
          {STATUSES.map((status) => (
            <option key={status} value={status}>
              {inWords(status)}
            </option>
          ))}
        </select>
      </label>
      <label>
        Order
        <select
          value={search.sort ?? 'name'}
          onChange={({ target }) => change({ sort: target.value as Sort })}
        >
          {SORTS.map((sort) => (
            <option key={sort} value={sort}>
              {SORT_NAMES[sort]}
            </option>
          ))}
        </select>
      </label>
      <button type="submit">Search</button>
    </form>
  );
};

const columnsFor = (
  organization: string,
  document: ListDocument<WorkspaceAttributes>,
): readonly Column<Resource<WorkspaceAttributes>>[] => [
  {
    title: 'Name',
    isName: true,
    cell: ({ attributes }) => (
      <>
        <Link
          to="/app/$organization/workspaces/$workspace"
          params={{ organization, workspace: attributes.name }}
        >
          {attributes.name}
        </Link>
        {attributes.locked && <Pill tone="busy">locked</Pill>}
        {attributes.description !== null && attributes.description !== '' && (
          <small className="under">{attributes.description}</small>
        )}
      </>
    ),
  },
  {
    title: 'Current run',
    cell: (workspace) => {
      const run = includedOne<RunAttributes>(document, workspace, 'current-run');
      return run === undefined ? (
        'none'
      ) : (
        <Link
          to="/app/$organization/$workspace/runs/$run"
          params={{ organization, workspace: workspace.attributes.name, run: run.id }}
        >
          <Pill tone={runTone(run.attributes.status)}>{inWords(run.attributes.status)}</Pill>
        </Link>
      );
    },
  },
  {
    title: 'Project',
    cell: (workspace) => includedOne<Named>(document, workspace, 'project')?.attributes.name ?? '–',
  },
  { title: 'Tags', cell: ({ attributes }) => attributes['tag-names'].join(', ') || '–' },
  { title: 'Resources', cell: ({ attributes }) => attributes['resource-count'].toLocaleString() },
  {
    title: 'Changed',
    cell: ({ attributes }) => formatDistance(attributes['latest-change-at'], Date.now()),
  },
];

const bodyOf = (name: string, description: string): object => ({
  data: { type: 'workspaces', attributes: { name, description } },
});

const CreateWorkspace = ({ organization }: { organization: string }) => {
  const path = `organizations/${encodeURIComponent(organization)}/workspaces`;
  return (
    <ActionButton
      label="Create workspace"
      title={`Create a workspace in ${organization}`}
      confirm="Create"
      tone="primary"
      act={(fields) =>
        callWorkspaces('POST', path, {
          body: bodyOf(fields.text('name'), fields.text('description')),
        })
      }
      commands={[
        workspacesCurl('POST', path, bodyOf('…', '…')),
        { tool: 'terraform', text: 'terraform workspace new NAME' },
      ]}
    >
      <label>
        Name
        <input name="name" required autoComplete="off" pattern="[A-Za-z0-9_\-]+" />
      </label>
      <label>
        Description (optional)
        <input name="description" autoComplete="off" />
      </label>
    </ActionButton>
  );
};

const COUNTED = ['applied', 'planned', 'planning', 'applying', 'errored'];

export const WorkspacesPage = () => {
  const { organization } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const listPath = `organizations/${encodeURIComponent(organization)}/workspaces?${toApiQuery(search)}`;
  const query = useDocument<ListDocument<WorkspaceAttributes>>(listPath, {
    everyMs: REFRESH_MS,
    keepPrevious: true,
  });
  const may = useOrganizationPermissions(organization);
  const change = (next: WorkspaceSearch): void => void navigate({ search: next, replace: true });
  const isNarrowed = Object.keys(search).some((key) => key !== 'page' && key !== 'sort');
  return (
    <Page
      title="Workspaces"
      windowTitle={`Workspaces of ${organization}`}
      lead={`in ${organization}`}
      actions={may('can-create-workspace') && <CreateWorkspace organization={organization} />}
    >
      <Selection search={search} onChange={change} />
      <Loaded query={query}>
        {(document) => (
          <>
            <p className="pills">
              {COUNTED.map((status) => {
                const count = document.meta?.['status-counts']?.[status] ?? 0;
                return count === 0 ? null : (
                  <Pill key={status} tone={runTone(status)}>
                    {count} {status}
                  </Pill>
                );
              })}
            </p>
            {document.data.length === 0 ? (
              <Empty>
                {isNarrowed
                  ? 'No workspace is selected by this search.'
                  : 'There is no workspace in this organization yet.'}
              </Empty>
            ) : (
              <DataTable
                label="Workspaces"
                columns={columnsFor(organization, document)}
                rows={document.data}
                keyOf={({ id }) => id}
              />
            )}
            {document.meta?.pagination && (
              <Pager
                pagination={document.meta.pagination}
                onPage={(page) => void navigate({ search: { ...search, page } })}
              />
            )}
          </>
        )}
      </Loaded>
      <Commands
        commands={[
          workspacesCurl('GET', listPath),
          { tool: 'terraform', text: 'terraform workspace list' },
          { tool: 'keelson', text: `keelson workspace list ${organization}` },
        ]}
      />
    </Page>
  );
};
