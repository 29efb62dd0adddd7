/**
 * Who may do what. Every operation comes through here; what is not granted is answered as absent, so
 * that a caller learns nothing of what it may not see.
 */
import { KeelsonError } from '@keelson/errors';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import type { OAuthClient } from '../oauth/domain/oauth-client.ts';
import { oauthClientRecords, oauthTokenRecords } from '../oauth/oauth-records.ts';
import type { Organization } from '../organizations/domain/organization.ts';
import {
  findOrganizationByName,
  organizationRecords,
} from '../organizations/organization-records.ts';
import type { Project } from '../projects/domain/project.ts';
import { projectRecords } from '../projects/project-records.ts';
import { sshKeyRecords } from '../ssh-keys/ssh-key-records.ts';
import { membershipRecords, teamRecords } from '../teams/team-records.ts';
import type { Workspace } from '../workspaces/domain/workspace.ts';
import { findWorkspaceByName, workspaceRecords } from '../workspaces/workspace-records.ts';
import {
  FULL_ORGANIZATION_ACCESS,
  NO_ORGANIZATION_ACCESS,
  ORGANIZATION_TOKEN_ACCESS,
  uniteOrganizationAccess,
} from './domain/organization-access.ts';
import {
  decideProjectPermissions,
  type ProjectPermission,
  type ProjectPermissions,
} from './domain/project-permissions.ts';
import { type Standing, toOrganizationRights } from './domain/standing.ts';
import { toProjectGrant, toRightsInProject, toWorkspaceRights } from './domain/team-grants.ts';
import {
  decideWorkspacePermissions,
  type WorkspacePermission,
  type WorkspacePermissions,
} from './domain/workspace-permissions.ts';
import { uniteRights } from './domain/workspace-rights.ts';
import { teamProjectGrants, teamWorkspaceGrants } from './grant-records.ts';
import { loadRunPermissions } from './run-access-operations.ts';

export const notFound = (resource: string): KeelsonError =>
  new KeelsonError('workspace.not_found', { resource });

const present = <T>(value: T | undefined): value is T => value !== undefined;

const findTeamIds = async (
  reads: Reads,
  principal: Principal,
  organization: Organization,
): Promise<readonly string[] | undefined> => {
  if (principal.kind === 'team') {
    const team = await teamRecords.find(reads, principal.id);
    return team?.organizationId === organization.id ? [team.id] : undefined;
  }
  if (principal.kind !== 'user') return undefined;
  return (await membershipRecords.find(reads, organization.id, principal.id))?.teamIds;
};

/** What the caller is in the organization; undefined when it has no part in it. */
export const findStanding = async (
  reads: Reads,
  principal: Principal,
  organization: Organization,
): Promise<Standing | undefined> => {
  if (principal.kind === 'organization') {
    return principal.id === organization.name
      ? { kind: 'organization', isOwner: false, access: ORGANIZATION_TOKEN_ACCESS, teamIds: [] }
      : undefined;
  }
  if (principal.kind === 'run') {
    return principal.organization === organization.name
      ? { kind: 'run', isOwner: false, access: NO_ORGANIZATION_ACCESS, teamIds: [] }
      : undefined;
  }
  const teamIds = await findTeamIds(reads, principal, organization);
  if (teamIds === undefined) return undefined;
  const kind = principal.kind === 'team' ? 'team' : 'user';
  if (teamIds.includes(organization.ownersTeamId)) {
    return { kind, isOwner: true, access: FULL_ORGANIZATION_ACCESS, teamIds };
  }
  if (kind === 'user' && !organization.settings.userTokensEnabled) return undefined;
  const teams = await Promise.all(teamIds.map((id) => teamRecords.find(reads, id)));
  const access = uniteOrganizationAccess([
    NO_ORGANIZATION_ACCESS,
    ...teams.filter(present).map(({ organizationAccess }) => organizationAccess),
  ]);
  return { kind, isOwner: false, access, teamIds };
};

export interface OrganizationAccessResult {
  readonly organization: Organization;
  readonly standing: Standing;
}

/** @throws KeelsonError `workspace.not_found` when it is absent or the caller has no part in it */
export const requireOrganization = async (
  reads: Reads,
  principal: Principal,
  name: string,
): Promise<OrganizationAccessResult> => {
  const organization = await findOrganizationByName(reads, name);
  const standing = organization && (await findStanding(reads, principal, organization));
  if (organization === undefined || standing === undefined) throw notFound('organization');
  return { organization, standing };
};

const requireOrganizationOf = async (
  reads: Reads,
  principal: Principal,
  organizationId: string,
  resource: string,
): Promise<OrganizationAccessResult> => {
  const organization = await organizationRecords.find(reads, organizationId);
  const standing = organization && (await findStanding(reads, principal, organization));
  if (organization === undefined || standing === undefined) throw notFound(resource);
  return { organization, standing };
};

const loadProjectGrants = async (reads: Reads, teamIds: readonly string[], projectId: string) => {
  const grants = await Promise.all(
    teamIds.map((teamId) => teamProjectGrants.find(reads, teamId, projectId)),
  );
  return grants
    .filter(present)
    .map(({ access, custom }) => ({ access, grant: toProjectGrant(access, custom) }));
};

/** The caller's rights on a workspace from its organization and project. */
export const loadProjectPermissions = async (
  reads: Reads,
  standing: Standing,
  organization: Organization,
  projectId: string,
): Promise<ProjectPermissions> => {
  const grants = standing.isOwner
    ? []
    : await loadProjectGrants(reads, standing.teamIds, projectId);
  return decideProjectPermissions({
    standing,
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
  const { standing, organization } = owner;
  const permissions = await loadProjectPermissions(reads, standing, organization, project.id);
  if (!permissions.canRead || !permissions[permission]) throw notFound('project');
  return { ...owner, project, permissions };
};

/** Undefined where the caller may not know of it. */
export const findReadableProject = async (
  reads: Reads,
  { organization, standing }: OrganizationAccessResult,
  projectId: string,
): Promise<Project | undefined> => {
  const { canRead } = await loadProjectPermissions(reads, standing, organization, projectId);
  return canRead ? projectRecords.find(reads, projectId) : undefined;
};

export interface WorkspaceAccessResult extends OrganizationAccessResult {
  readonly workspace: Workspace;
  readonly project: Project;
  readonly permissions: WorkspacePermissions;
  /** What the repository is reached with. */
  readonly oauthClient: OAuthClient | null;
}

/** The workspace without a key that was deleted since it was assigned. */
const withoutDeletedKey = async (reads: Reads, workspace: Workspace): Promise<Workspace> => {
  if (workspace.sshKeyId === null) return workspace;
  const key = await sshKeyRecords.find(reads, workspace.sshKeyId);
  return key === undefined ? { ...workspace, sshKeyId: null } : workspace;
};

/** The workspace without a repository whose connection was deleted, and the connection. */
const loadConnection = async (
  reads: Reads,
  workspace: Workspace,
): Promise<{ readonly workspace: Workspace; readonly oauthClient: OAuthClient | null }> => {
  const tokenId = workspace.settings.vcsRepo?.oauthTokenId ?? null;
  if (tokenId === null) return { workspace, oauthClient: null };
  const token = await oauthTokenRecords.find(reads, tokenId);
  const client = token && (await oauthClientRecords.find(reads, token.clientId));
  if (client !== undefined) return { workspace, oauthClient: client };
  const settings = { ...workspace.settings, vcsRepo: null };
  return { workspace: { ...workspace, settings }, oauthClient: null };
};

/** The caller's permissions on a workspace of an organization it has a part in. */
export const loadWorkspaceAccess = async (
  reads: Reads,
  { organization, standing }: OrganizationAccessResult,
  stored: Workspace,
): Promise<WorkspaceAccessResult> => {
  const { workspace, oauthClient } = await loadConnection(
    reads,
    await withoutDeletedKey(reads, stored),
  );
  const project = await projectRecords.find(reads, workspace.projectId);
  if (project === undefined) throw new Error(`${workspace.id} is in a project that is gone`);
  const rights = [toOrganizationRights(standing)];
  if (!standing.isOwner) {
    const [projectGrants, workspaceGrants] = await Promise.all([
      loadProjectGrants(reads, standing.teamIds, workspace.projectId),
      Promise.all(
        standing.teamIds.map((teamId) => teamWorkspaceGrants.find(reads, teamId, workspace.id)),
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
    isOwner: standing.isOwner,
    adminsMayForceDelete: organization.settings.allowForceDeleteWorkspaces,
    allowDestroyPlan: workspace.settings.allowDestroyPlan,
  });
  return { organization, standing, project, workspace, permissions, oauthClient };
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
