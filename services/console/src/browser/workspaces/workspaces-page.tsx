import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useAction, useDocument } from '../api/queries.ts';
import { callWorkspaces, includedOne, type ListDocument } from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Input, Label } from '../components/fields.tsx';
import { formatDistance, inWords } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Empty, Page } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { Pager } from '../components/pager.tsx';
import { Pill, PillRow } from '../components/pill.tsx';
import { type Selection, SelectionBar, useSelection } from '../components/selection.tsx';
import { Under } from '../components/text.tsx';
import { useOrganizationPermissions } from '../organizations/organization-permissions.ts';
import { type RunAttributes, runTone } from '../runs/run.ts';
import { SavedViewsBar } from '../views/saved-views-bar.tsx';
import { BulkActions, type Deed, type Listed, useBulkDeeds } from './bulk-actions.tsx';
import type { WorkspaceAttributes } from './workspace.ts';
import { WorkspaceFilters } from './workspace-filters.tsx';
import {
  filterOf,
  parseWorkspaceSearch,
  type Sort,
  toApiQuery,
  type WorkspaceSearch,
} from './workspace-search.ts';

const route = getRouteApi('/app/$organization/workspaces');
const REFRESH_MS = 15_000;
/** The API's limit of a page. */
const MAX_PAGE_SIZE = 100;
/** Workspaces that are selected at most by one press. */
const MAX_CHOSEN = 500;

type Document = ListDocument<WorkspaceAttributes>;

const listedIn = ({ data, included = [] }: Document): readonly Listed[] =>
  data.map((workspace) => ({ data: workspace, included }));

const columnsFor = (organization: string): readonly Column<Listed>[] => [
  {
    title: 'Name',
    isName: true,
    sort: 'name',
    cell: ({ data: { attributes } }) => (
      <>
        <PageLink
          to="/app/$organization/workspaces/$workspace"
          params={{ organization, workspace: attributes.name }}
        >
          {attributes.name}
        </PageLink>
        {attributes.locked && <Pill tone="busy">locked</Pill>}
        {attributes.description !== null && attributes.description !== '' && (
          <Under>{attributes.description}</Under>
        )}
      </>
    ),
  },
  {
    title: 'Current run',
    sort: 'current-run.created-at',
    isGreatestFirst: true,
    cell: (listed) => {
      const run = includedOne<RunAttributes>(listed, listed.data, 'current-run');
      return run === undefined ? (
        'none'
      ) : (
        <PageLink
          to="/app/$organization/$workspace/runs/$run"
          params={{ organization, workspace: listed.data.attributes.name, run: run.id }}
        >
          <Pill tone={runTone(run.attributes.status)}>{inWords(run.attributes.status)}</Pill>
        </PageLink>
      );
    },
  },
  {
    title: 'Project',
    cell: (listed) =>
      includedOne<{ name: string }>(listed, listed.data, 'project')?.attributes.name ?? '–',
  },
  { title: 'Tags', cell: ({ data }) => data.attributes['tag-names'].join(', ') || '–' },
  {
    title: 'Resources',
    cell: ({ data }) => data.attributes['resource-count'].toLocaleString(),
  },
  {
    title: 'Changed',
    sort: 'latest-change-at',
    isGreatestFirst: true,
    cell: ({ data }) => formatDistance(data.attributes['latest-change-at'], Date.now()),
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
      opensAt="create-workspace"
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
      <Label>
        Name
        <Input name="name" required autoComplete="off" pattern="[A-Za-z0-9_\-]+" />
      </Label>
      <Label>
        Description (optional)
        <Input name="description" autoComplete="off" />
      </Label>
    </ActionButton>
  );
};

/** The workspaces that are selected, and what can be done with all of them. */
const Selected = (props: {
  organization: string;
  search: WorkspaceSearch;
  /** Workspaces that the filters select, on all pages. */
  total: number;
  deeds: readonly Deed[];
  selection: Selection<Listed>;
}) => {
  const { organization, search, total, deeds, selection } = props;
  const { chosen, onChange } = selection;
  const wanted = Math.min(total, MAX_CHOSEN);
  const choosing = useAction(async () => {
    const all = new Map<string, Listed>();
    for (let page = 1; (page - 1) * MAX_PAGE_SIZE < wanted; page += 1) {
      const query = toApiQuery({ ...search, page }, MAX_PAGE_SIZE);
      const path = `organizations/${encodeURIComponent(organization)}/workspaces?${query}`;
      for (const listed of listedIn(await callWorkspaces<Document>('GET', path)))
        all.set(listed.data.id, listed);
    }
    onChange(all);
  });
  return (
    <SelectionBar count={chosen.size} noun="workspace" onClear={() => onChange(new Map())}>
      {chosen.size < wanted && (
        <Button look="link" onClick={() => choosing.run()}>
          {total > MAX_CHOSEN ? `Select the first ${MAX_CHOSEN}` : `Select all ${total}`}
        </Button>
      )}
      <BulkActions deeds={deeds} chosen={chosen} onEnd={onChange} />
    </SelectionBar>
  );
};

const COUNTED = ['applied', 'planned', 'planning', 'applying', 'errored'];

export const WorkspacesPage = () => {
  const { organization } = route.useParams();
  // The address may have parameters without a text, which are no filters.
  const search = parseWorkspaceSearch({ ...route.useSearch() });
  const navigate = route.useNavigate();
  const listPath = `organizations/${encodeURIComponent(organization)}/workspaces?${toApiQuery(search)}`;
  const router = useRouter();
  const filter = filterOf(search);
  const selection = useSelection<Listed>(
    `${organization} ${JSON.stringify(filter)}`,
    ({ data }) => data.attributes.name,
  );
  const query = useDocument<Document>(listPath, {
    everyMs: REFRESH_MS,
    keepPrevious: true,
  });
  const deeds = useBulkDeeds(organization);
  const may = useOrganizationPermissions(organization);
  const change = (next: WorkspaceSearch): void =>
    void navigate({ search: parseWorkspaceSearch({ ...next }), replace: true });
  const { page: _, ...view } = search;
  return (
    <Page
      title="Workspaces"
      windowTitle={`Workspaces of ${organization}`}
      lead={`in ${organization}`}
      actions={may('can-create-workspace') && <CreateWorkspace organization={organization} />}
    >
      <SavedViewsBar
        list={`workspaces of ${organization}`}
        filter={view}
        parse={parseWorkspaceSearch}
        addressOf={(shown) =>
          router.buildLocation({
            to: '/app/$organization/workspaces',
            params: { organization },
            search: shown,
          }).href
        }
      />
      <WorkspaceFilters organization={organization} search={search} onChange={change} />
      <Loaded query={query}>
        {(document) => (
          <>
            <PillRow>
              {COUNTED.map((status) => {
                const count = document.meta?.['status-counts']?.[status] ?? 0;
                return count === 0 ? null : (
                  <Pill key={status} tone={runTone(status)}>
                    {count} {status}
                  </Pill>
                );
              })}
            </PillRow>
            {document.data.length === 0 ? (
              <Empty>
                {Object.keys(filter).length > 0
                  ? 'No workspace is selected by this search.'
                  : 'There is no workspace in this organization yet.'}
              </Empty>
            ) : (
              <DataTable
                label="Workspaces"
                columns={columnsFor(organization)}
                rows={listedIn(document)}
                keyOf={({ data }) => data.id}
                order={{
                  by: search.sort ?? 'name',
                  onChange: (sort) => change({ ...view, sort: sort as Sort }),
                }}
                selection={
                  listedIn(document).some((listed) => deeds.some((deed) => deed.isAllowed(listed)))
                    ? selection
                    : undefined
                }
              />
            )}
            {document.meta?.pagination && (
              <Pager
                pagination={document.meta.pagination}
                onPage={(page) => void navigate({ search: { ...search, page } })}
              />
            )}
            <Selected
              organization={organization}
              search={search}
              total={document.meta?.pagination?.['total-count'] ?? document.data.length}
              deeds={deeds}
              selection={selection}
            />
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
