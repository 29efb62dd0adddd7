/** Settings of a workspace, sharing, and deletion. */
import { getRouteApi } from '@tanstack/react-router';
import { callWorkspaces } from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { workspacesCurl } from '../components/commands.tsx';
import { Card } from '../components/page.tsx';
import { NotificationsCard } from '../notifications/notifications-card.tsx';
import { DeliveriesCard, RepositoryCard } from './repository-card.tsx';
import { SettingsForm } from './settings-form.tsx';
import { type CardProps, ConsumersCard, RunTriggersCard, TagsCard } from './sharing-cards.tsx';
import { TeamAccessCard } from './team-access-card.tsx';

const route = getRouteApi('/app/$organization/workspaces/$workspace');

const Deletion = ({ organization, workspace: { id, attributes: workspace } }: CardProps) => {
  const navigate = route.useNavigate();
  if (!workspace.permissions['can-destroy']) return null;
  return (
    <Card title="Delete">
      <p>
        A workspace that manages nothing can be deleted safely. This one has{' '}
        {workspace['resource-count']} resources in its newest state
        {workspace.locked && ', and it is locked'}.
      </p>
      <ActionButton
        label="Delete the workspace"
        title={`Delete ${workspace.name}?`}
        confirm="Delete it"
        tone="danger"
        typed={workspace.name}
        act={() => callWorkspaces('POST', `workspaces/${id}/actions/safe-delete`)}
        onDone={() =>
          void navigate({ to: '/app/$organization/workspaces', params: { organization } })
        }
        commands={[
          workspacesCurl('POST', `workspaces/${id}/actions/safe-delete`),
          { tool: 'terraform', text: `terraform workspace delete ${workspace.name}` },
        ]}
      >
        <p>
          Its runs, states and variables are gone with it. The server refuses while the state names
          resources, and says so.
        </p>
      </ActionButton>
    </Card>
  );
};

export const SettingsTab = (props: CardProps) => {
  const { organization, workspace } = props;
  const navigate = route.useNavigate();
  return (
    <>
      {workspace.attributes.permissions['can-update'] && (
        <SettingsForm
          {...props}
          onRenamed={(name) =>
            void navigate({
              params: { organization, workspace: name },
              search: { tab: 'settings' },
            })
          }
        />
      )}
      <RepositoryCard {...props} />
      {workspace.attributes['vcs-repo'] !== null &&
        workspace.attributes.permissions['can-update'] && <DeliveriesCard {...props} />}
      <TagsCard {...props} />
      <ConsumersCard {...props} />
      <RunTriggersCard {...props} />
      {workspace.attributes.permissions['can-update'] && <TeamAccessCard {...props} />}
      {workspace.attributes.permissions['can-update'] && (
        <NotificationsCard kind="workspaces" id={workspace.id} owner={workspace.attributes.name} />
      )}
      <Deletion {...props} />
    </>
  );
};
