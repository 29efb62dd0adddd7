import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useDocument } from '../api/queries.ts';
import type { OneDocument } from '../api/workspaces-api.ts';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { FactList } from '../components/fact-list.tsx';
import { formatTime } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card, Page } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { Pill } from '../components/pill.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { type TabItem, Tabs } from '../components/tabs.tsx';
import { Code } from '../components/text.tsx';
import { VariableList } from '../variables/variable-list.tsx';
import { FirstSteps } from './first-steps.tsx';
import { InheritedVariables } from './inherited-variables.tsx';
import { LockCard } from './lock-card.tsx';
import { RunsTab } from './runs-tab.tsx';
import { SettingsTab } from './settings-tab.tsx';
import { StatesTab } from './states-tab.tsx';
import type { WorkspaceAttributes } from './workspace.ts';
import type { WorkspaceTab } from './workspace-tab.ts';

const route = getRouteApi('/app/$organization/workspaces/$workspace');
const REFRESH_MS = 10_000;

// Loaded when it is shown, as all charts are.
const RunHistory = lazy(async () => ({
  default: (await import('../history/run-history.tsx')).RunHistory,
}));

const Overview = ({ document }: { document: OneDocument<WorkspaceAttributes> }) => {
  const { organization } = route.useParams();
  const { id, attributes: workspace } = document.data;
  return (
    <>
      {workspace['workspace-kpis-runs-count'] === 0 && workspace['resource-count'] === 0 && (
        <FirstSteps organization={organization} workspace={document.data} />
      )}
      <LockCard organization={organization} document={document} />
      <Card title="Facts">
        <FactList
          facts={[
            ['Id', <Code key="id">{id}</Code>],
            ['Runs are executed', workspace['execution-mode']],
            ['Version', workspace['terraform-version'] ?? 'latest'],
            ['Working directory', workspace['working-directory'] ?? '/'],
            ['Auto-apply', workspace['auto-apply'] ? 'on' : 'off: plans wait to be confirmed'],
            [
              'State is read by',
              workspace['global-remote-state']
                ? 'every workspace of the organization'
                : 'approved workspaces only',
            ],
            ['Resources', workspace['resource-count'].toLocaleString()],
            ['Tags', workspace['tag-names'].join(', ') || '–'],
            [
              'Newest runs',
              `${workspace['workspace-kpis-runs-count']} counted, ${workspace['run-failures']} failed`,
            ],
            ['Created', formatTime(workspace['created-at'])],
            ['Changed', formatTime(workspace['latest-change-at'])],
          ]}
        />
        <Commands
          commands={[
            workspacesCurl('GET', `organizations/${organization}/workspaces/${workspace.name}`),
            { tool: 'terraform', text: `terraform workspace select ${workspace.name}` },
          ]}
        />
      </Card>
      <Suspense fallback={<Skeleton />}>
        <RunHistory owner={`workspaces/${id}`} />
      </Suspense>
    </>
  );
};

const Workspace = ({ document }: { document: OneDocument<WorkspaceAttributes> }) => {
  const { organization } = route.useParams();
  const { tab = 'overview' } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: workspace } = document;
  const { name, description, locked, permissions } = workspace.attributes;
  const items: readonly TabItem<WorkspaceTab>[] = [
    { name: 'overview', title: 'Overview', content: () => <Overview document={document} /> },
    {
      name: 'runs',
      title: 'Runs',
      content: () => <RunsTab organization={organization} workspace={workspace} />,
    },
    ...(permissions['can-read-state-versions']
      ? [
          {
            name: 'states' as const,
            title: 'States',
            content: () => <StatesTab organization={organization} workspace={workspace} />,
          },
        ]
      : []),
    ...(permissions['can-read-variable']
      ? [
          {
            name: 'variables' as const,
            title: 'Variables',
            content: () => (
              <>
                <VariableList
                  path={`workspaces/${workspace.id}/vars`}
                  owner={name}
                  mayChange={permissions['can-update-variable']}
                />
                <InheritedVariables workspaceId={workspace.id} />
              </>
            ),
          },
        ]
      : []),
    {
      name: 'settings',
      title: 'Settings',
      content: () => <SettingsTab organization={organization} workspace={workspace} />,
    },
  ];
  return (
    <Page
      title={name}
      lead={
        <>
          <PageLink to="/app/$organization/workspaces" params={{ organization }}>
            {organization}
          </PageLink>
          {locked && (
            <>
              {' '}
              <Pill tone="busy">locked</Pill>
            </>
          )}
          {description !== null && description !== '' && <> · {description}</>}
        </>
      }
    >
      <Tabs
        label="Parts of the workspace"
        items={items}
        selected={tab}
        onSelect={(next) =>
          void navigate({ search: next === 'overview' ? {} : { tab: next }, replace: true })
        }
      />
    </Page>
  );
};

export const WorkspacePage = () => {
  const { organization, workspace } = route.useParams();
  const [owner, name] = [organization, workspace].map(encodeURIComponent);
  const query = useDocument<OneDocument<WorkspaceAttributes>>(
    `organizations/${owner}/workspaces/${name}?include=locked_by`,
    { everyMs: REFRESH_MS },
  );
  return <Loaded query={query}>{(document) => <Workspace document={document} />}</Loaded>;
};
