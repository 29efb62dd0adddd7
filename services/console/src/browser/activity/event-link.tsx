/** The name of what an event has changed, with a link to its page while it has one. */
import type { Resource } from '../api/workspaces-api.ts';
import { PageLink } from '../components/page-link.tsx';
import type { WorkspaceTab } from '../workspaces/workspace-tab.ts';
import { type AuditEvent, type ChangedType } from './event-words.ts';

/** The tab of the workspace page that shows resources of a type. */
const TABS: Readonly<Partial<Record<ChangedType, WorkspaceTab>>> = {
  workspace: 'overview',
  variable: 'variables',
  state_version: 'states',
  configuration_version: 'runs',
  comment: 'runs',
  run_trigger: 'settings',
  team_access: 'settings',
  notification_configuration: 'settings',
};

/** The page of the organization that shows resources of a type. */
const PAGES = {
  project: '/app/$organization/projects',
  team_access: '/app/$organization/projects',
  organization_membership: '/app/$organization/teams',
  variable: '/app/$organization/variable-sets',
  variable_set: '/app/$organization/variable-sets',
  agent: '/app/$organization/agent-pools',
  agent_pool: '/app/$organization/agent-pools',
  oauth_token: '/app/$organization/version-control',
  ssh_key: '/app/$organization/version-control',
  organization: '/app/$organization/settings',
  reserved_tag_key: '/app/$organization/settings',
} as const satisfies Partial<Record<ChangedType, string>>;

const hasPage = (type: ChangedType): type is keyof typeof PAGES => Object.hasOwn(PAGES, type);

export const EventLink = (props: { organization: string; event: Resource<AuditEvent> }) => {
  const { organization, event } = props;
  const { attributes } = event;
  const { 'resource-type': type, 'resource-id': id, 'workspace-name': workspace } = attributes;
  const text = attributes['resource-name'] ?? id;
  const isInWorkspace = event.relationships?.['workspace']?.data !== null;
  // Removed, itself or with its workspace.
  if (attributes.action === 'destroy' || (isInWorkspace && workspace === null)) return text;
  if (type === 'run' && workspace !== null)
    return (
      <PageLink
        to="/app/$organization/$workspace/runs/$run"
        params={{ organization, workspace, run: id }}
      >
        {text}
      </PageLink>
    );
  const tab = TABS[type];
  if (workspace !== null && tab !== undefined)
    return (
      <PageLink
        to="/app/$organization/workspaces/$workspace"
        params={{ organization, workspace }}
        search={tab === 'overview' ? {} : { tab }}
      >
        {text}
      </PageLink>
    );
  if (type === 'team')
    return (
      <PageLink to="/app/$organization/teams/$team" params={{ organization, team: id }}>
        {text}
      </PageLink>
    );
  if (type === 'oauth_client')
    return (
      <PageLink
        to="/app/$organization/version-control/$client"
        params={{ organization, client: id }}
      >
        {text}
      </PageLink>
    );
  return hasPage(type) ? (
    <PageLink to={PAGES[type]} params={{ organization }}>
      {text}
    </PageLink>
  ) : (
    text
  );
};
