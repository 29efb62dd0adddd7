/** Creates and deletes the records that this module keeps for an organization and for a team. */
import { KeelsonError } from '@keelson/errors';
import { readableOnly, type Transaction } from '@keelson/storage';
import type { Organization } from '../identity/model/domain/organization.ts';
import type { OrganizationContribution } from '../identity/seams/organization-contributions.ts';
import type { OrganizationSteps } from '../identity/seams/organization-steps.ts';
import { findReadableProject } from './access/access-operations.ts';
import { changePoolUse } from './access/pool-use-operations.ts';
import { removeAgentPool } from './agent-pools/agent-pool-operations.ts';
import { forceDeleteWorkspaces } from './lifecycle/workspace-operations.ts';
import { agentPoolRecords } from './model/agent-pool-records.ts';
import { agentRecords } from './model/agent-records.ts';
import type { PoolUser } from './model/domain/agent-pool.ts';
import { DEFAULT_PROJECT_NAME } from './model/domain/project.ts';
import { oauthClientRecords } from './model/oauth-records.ts';
import { projectRecords } from './model/project-records.ts';
import { workspaceRecords } from './model/workspace-records.ts';
import { removeRecipient } from './notifications/notification-records.ts';
import { removeOAuthClient } from './oauth/oauth-operations.ts';
import { toProjectResource } from './projects/project-document.ts';
import type { RemovalContext, WorkspacesContext } from './seams/workspaces-context.ts';

const toPoolUser = ({ id }: Organization): PoolUser => ({
  kind: 'organization',
  id,
  organizationId: id,
});

const writeDefaultProject = async (
  tx: Transaction,
  { id: organizationId, defaultProjectId: id, createdAtMs }: Organization,
): Promise<void> => {
  await projectRecords.write(tx, [id], {
    id,
    organizationId,
    name: DEFAULT_PROJECT_NAME,
    description: '',
    autoDestroyActivityDuration: null,
    ownExecution: null,
    tagBindings: [],
    createdAtMs,
  });
};

/** @throws KeelsonError `workspace.conflict` naming a workspace that was created in the meantime */
const removeWhatBelongsTo = async (
  context: RemovalContext,
  tx: Transaction,
  { id }: Organization,
): Promise<void> => {
  const [workspace] = await workspaceRecords.by.name.values(tx, [id], { limit: 1 });
  if (workspace !== undefined) {
    throw new KeelsonError('workspace.conflict', {
      text: `the organization has the new workspace ${workspace}; try again`,
    });
  }
  for (const client of await oauthClientRecords.by.organizationId.records(readableOnly(tx), id)) {
    await removeOAuthClient(context, tx, client);
  }
  for (const pool of await agentPoolRecords.by.organizationId.records(readableOnly(tx), id)) {
    await removeAgentPool(context, tx, pool);
  }
};

export const workspacesOrganizationSteps = (context: RemovalContext): OrganizationSteps => ({
  onOrganizationCreated: async (tx, organization) => {
    const { agentPoolId } = organization.defaultExecution;
    await changePoolUse(tx, toPoolUser(organization), null, agentPoolId);
    await writeDefaultProject(tx, organization);
  },
  onOrganizationUpdated: (tx, before, after) =>
    changePoolUse(
      tx,
      toPoolUser(after),
      before.defaultExecution.agentPoolId,
      after.defaultExecution.agentPoolId,
    ),
  // Deletes a few at a time, so that an interrupted deletion leaves an organization with fewer workspaces.
  beforeOrganizationRemoved: async (principal, organizationName) => {
    while ((await forceDeleteWorkspaces(context, principal, organizationName)) > 0);
  },
  onOrganizationRemoved: (tx, organization) => removeWhatBelongsTo(context, tx, organization),
  onUserErased: removeRecipient,
});

export const workspacesOrganizationContribution = ({
  hasRunner,
}: Pick<WorkspacesContext, 'hasRunner'>): OrganizationContribution => ({
  /** Clients run locally while nobody would execute their runs. */
  entitlements: async (reads, organizationId) => {
    const agents = await agentRecords.by.pool.keys(reads, [organizationId], { limit: 1 });
    return { operations: hasRunner || agents.length > 0 };
  },
  includes: {
    default_project: {
      types: ['projects'],
      load: async (reads, access) => {
        const { organization } = access;
        const project = await findReadableProject(reads, access, organization.defaultProjectId);
        return project === undefined ? [] : [toProjectResource({ project, organization })];
      },
    },
  },
});
