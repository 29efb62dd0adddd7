/**
 * Permission checks of every operation. A resource that the caller may not see is reported as not found, so
 * that its existence is not disclosed.
 */

import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Reads, readableOnly } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import { type CallerAccess } from '../../identity/access/domain/caller-access.ts';
import {
  findCallerAccess,
  type OrganizationAccessResult,
  requireOrganization,
  requireOrganizationOf,
} from '../../identity/access/organization-access-operations.ts';
import type { Organization } from '../../identity/model/domain/organization.ts';
import { organizationRecords } from '../../identity/model/organization-records.ts';
import type { OAuthClient } from '../model/domain/oauth-client.ts';
import type { Project } from '../model/domain/project.ts';
import type { RepositoryHook } from '../model/domain/repository-hook.ts';
import type { Workspace } from '../model/domain/workspace.ts';
import { oauthClientRecords, oauthTokenRecords } from '../model/oauth-records.ts';
import { projectRecords } from '../model/project-records.ts';
import { findRepositoryHook } from '../model/repository-records.ts';
import { sshKeyRecords } from '../model/ssh-key-records.ts';
import { findWorkspaceByName, workspaceRecords } from '../model/workspace-records.ts';
import { toOrganizationRights } from './domain/organization-rights.ts';
import {
  decideProjectPermissions,
  type ProjectPermission,
  type ProjectPermissions,
} from './domain/project-permissions.ts';
import { toProjectGrant, toRightsInProject, toWorkspaceRights } from './domain/team-grants.ts';
import {
  decideWorkspacePermissions,
  type WorkspacePermission,
  type WorkspacePermissions,
} from './domain/workspace-permissions.ts';
import { uniteRights } from './domain/workspace-rights.ts';
import { teamProjectGrants, teamWorkspaceGrants } from './grant-records.ts';
import { loadRunPermissions } from './run-access-operations.ts';

const present = <T>(value: T | undefined): value is T => value !== undefined;

/** A damaged grant gives no rights. */
const loadProjectGrants = async (reads: Reads, teamIds: readonly string[], projectId: string) => {
  const grants = await Promise.all(
    teamIds.map((teamId) => teamProjectGrants.find(readableOnly(reads), teamId, projectId)),
  );
  return grants
    .filter(present)
    .map(({ access, custom }) => ({ access, grant: toProjectGrant(access, custom) }));
};

/** The caller's rights on a workspace from its organization and project. */
export const loadProjectPermissions = async (
  reads: Reads,
  caller: CallerAccess,
  organization: Organization,
  projectId: string,
): Promise<ProjectPermissions> => {
  const grants = caller.isOwner ? [] : await loadProjectGrants(reads, caller.teamIds, projectId);
  return decideProjectPermissions({
    caller,
    grants: grants.map(({ grant }) => grant),
    isDefaultProject: organization.defaultProjectId === projectId,
  });
};

export interface ProjectAccessResult extends OrganizationAccessResult {
  readonly project: Project;
  readonly permissions: ProjectPermissions;
}

/** @throws KeelsonError `workspace.not_found` */
export const requireProject = async (
  reads: Reads,
  principal: Principal,
  projectId: string,
  permission: ProjectPermission = 'canRead',
): Promise<ProjectAccessResult> => {
  const project = await projectRecords.find(reads, projectId);
  if (project === undefined) throw notFound('project');
  const owner = await requireOrganizationOf(reads, principal, project.organizationId, 'project');
  const { caller, organization } = owner;
  const permissions = await loadProjectPermissions(reads, caller, organization, project.id);
  if (!permissions.canRead || !permissions[permission]) throw notFound('project');
  return { ...owner, project, permissions };
};

/** Undefined where the caller may not know of it. */
export const findReadableProject = async (
  reads: Reads,
  { organization, caller }: OrganizationAccessResult,
  projectId: string,
): Promise<Project | undefined> => {
  const { canRead } = await loadProjectPermissions(reads, caller, organization, projectId);
  return canRead ? projectRecords.find(reads, projectId) : undefined;
};

export interface WorkspaceAccessResult extends OrganizationAccessResult {
  readonly workspace: Workspace;
  readonly project: Project;
  readonly permissions: WorkspacePermissions;
  /** The connection to the repository's provider. */
  readonly oauthClient: OAuthClient | null;
  /** The repository, with its webhook. */
  readonly repositoryHook: RepositoryHook | null;
}

/** The workspace without a key that was deleted since it was assigned. */
const withoutDeletedKey = async (reads: Reads, workspace: Workspace): Promise<Workspace> => {
  if (workspace.sshKeyId === null) return workspace;
  const key = await sshKeyRecords.find(reads, workspace.sshKeyId);
  return key === undefined ? { ...workspace, sshKeyId: null } : workspace;
};

interface Connected extends Pick<WorkspaceAccessResult, 'oauthClient' | 'repositoryHook'> {
  readonly workspace: Workspace;
}

/** The workspace without a repository whose connection was deleted, and the connection. */
const loadConnection = async (reads: Reads, workspace: Workspace): Promise<Connected> => {
  const tokenId = workspace.settings.vcsRepo?.oauthTokenId ?? null;
  if (tokenId === null) return { workspace, oauthClient: null, repositoryHook: null };
  const token = await oauthTokenRecords.find(reads, tokenId);
  const client = token && (await oauthClientRecords.find(reads, token.clientId));
  if (client !== undefined) {
    const hook = await findRepositoryHook(reads, workspace.settings.vcsRepo);
    return { workspace, oauthClient: client, repositoryHook: hook ?? null };
  }
  const settings = { ...workspace.settings, vcsRepo: null };
  return { workspace: { ...workspace, settings }, oauthClient: null, repositoryHook: null };
};

/** The caller's permissions on a workspace of an organization it has a part in. */
export const loadWorkspaceAccess = async (
  reads: Reads,
  { organization, caller }: OrganizationAccessResult,
  stored: Workspace,
): Promise<WorkspaceAccessResult> => {
  const { workspace, ...connection } = await loadConnection(
    reads,
    await withoutDeletedKey(reads, stored),
  );
  const project = await projectRecords.find(reads, workspace.projectId);
  if (project === undefined) throw new Error(`${workspace.id} is in a project that is gone`);
  const rights = [toOrganizationRights(caller)];
  if (!caller.isOwner) {
    const [projectGrants, workspaceGrants] = await Promise.all([
      loadProjectGrants(reads, caller.teamIds, workspace.projectId),
      Promise.all(
        caller.teamIds.map((teamId) =>
          teamWorkspaceGrants.find(readableOnly(reads), teamId, workspace.id),
        ),
      ),
    ]);
    rights.push(
      ...projectGrants.map(({ access, grant }) => toRightsInProject(access, grant)),
      ...workspaceGrants
        .filter(present)
        .map(({ access, custom }) => toWorkspaceRights(access, custom)),
    );
  }
  const permissions = decideWorkspacePermissions({
    rights: uniteRights(rights),
    isOwner: caller.isOwner,
    adminsMayForceDelete: organization.settings.allowForceDeleteWorkspaces,
    allowDestroyPlan: workspace.settings.allowDestroyPlan,
  });
  return { organization, caller, project, workspace, permissions, ...connection };
};

/** Permissions of a principal that need not be the caller; undefined without a part in the organization. */
export const findWorkspacePermissions = async (
  reads: Reads,
  principal: Principal,
  workspace: Workspace,
): Promise<WorkspacePermissions | undefined> => {
  const organization = await organizationRecords.find(reads, workspace.organizationId);
  const caller = organization && (await findCallerAccess(reads, principal, organization));
  if (organization === undefined || caller === undefined) return undefined;
  const access = await loadWorkspaceAccess(reads, { organization, caller }, workspace);
  return access.permissions;
};

/** Both forms in which a workspace is addressed. */
export type WorkspaceAddress =
  | { readonly workspaceId: string }
  | { readonly organizationName: string; readonly workspaceName: string };

/**
 * The workspace with the caller's permissions on it.
 * @throws KeelsonError `workspace.not_found` when it is absent, not readable, or `permission` is not held
 */
export const requireWorkspace = async (
  reads: Reads,
  principal: Principal,
  address: WorkspaceAddress,
  permission: WorkspacePermission = 'canReadSettings',
): Promise<WorkspaceAccessResult> => {
  let owner: OrganizationAccessResult;
  let workspace: Workspace | undefined;
  if ('workspaceId' in address) {
    workspace = await workspaceRecords.find(reads, address.workspaceId);
    if (workspace === undefined) throw notFound('workspace');
    owner = await requireOrganizationOf(reads, principal, workspace.organizationId, 'workspace');
  } else {
    owner = await requireOrganization(reads, principal, address.organizationName);
    workspace = await findWorkspaceByName(reads, owner.organization.id, address.workspaceName);
    if (workspace === undefined) throw notFound('workspace');
  }
  const found = await loadWorkspaceAccess(reads, owner, workspace);
  const access =
    principal.kind === 'run'
      ? { ...found, permissions: await loadRunPermissions(reads, principal.id, workspace) }
      : found;
  if (!access.permissions.canReadSettings || !access.permissions[permission]) {
    throw notFound('workspace');
  }
  return access;
};
