import type { Outbound } from '@keelson/outbound';
import type { IdentityContext } from '../../identity/seams/identity-context.ts';
import type { WorkspaceListing } from '../listing/workspace-listing.ts';
import type { WorkspaceContribution } from './workspace-contributions.ts';
import type { WorkspaceSteps } from './workspace-steps.ts';

/** Context of the operations of this module. */
export interface WorkspacesContext extends IdentityContext {
  readonly listing: WorkspaceListing;
  /** Available releases of the provisioning tool, newest first. */
  readonly runtimeVersions: readonly string[];
  /** Whether the installation executes runs itself, so that an organization needs no agent. */
  readonly hasRunner: boolean;
  /** Value of `global-remote-state` for new workspaces whose request does not set it. */
  readonly globalRemoteState: boolean;
  /** Maximum number of variable sets of one organization. */
  readonly variableSetsLimit: number;
  /** Notification configurations of one workspace, project or team. */
  readonly notificationsLimit: number;
  /** For requests whose destination users choose. */
  readonly outbound: Outbound;
  readonly workspaceSteps: readonly WorkspaceSteps[];
  readonly workspaceContributions: readonly WorkspaceContribution[];
}

/** Context of the removal of workspaces, OAuth clients and agent pools. */
export type RemovalContext = Pick<WorkspacesContext, 'store' | 'clock' | 'workspaceSteps'>;
