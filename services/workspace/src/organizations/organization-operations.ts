import { KeelsonError } from '@keelson/errors';
import { newResourceId, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import {
  findStanding,
  notFound,
  type OrganizationAccessResult,
  requireOrganization,
} from '../access/access-operations.ts';
import { FULL_ORGANIZATION_ACCESS } from '../access/domain/organization-access.ts';
import { removeAgentPool } from '../agents/agent-pool-operations.ts';
import { agentPoolNames, agentPoolRecords } from '../agents/agent-pool-records.ts';
import type { PoolUser } from '../agents/domain/agent-pool.ts';
import { changePoolUse } from '../agents/pool-use-operations.ts';
import { removeOAuthClient } from '../oauth/oauth-operations.ts';
import { oauthClientRecords, organizationOAuthClients } from '../oauth/oauth-records.ts';
import { DEFAULT_PROJECT_NAME } from '../projects/domain/project.ts';
import { projectNames, projectRecords } from '../projects/project-records.ts';
import { noteRunDataPolicy } from '../retention/retention-records.ts';
import type { ServiceContext } from '../service-context.ts';
import { organizationSshKeys, sshKeyRecords } from '../ssh-keys/ssh-key-records.ts';
import { loadReservedKeys, reservedKeyPlaces, reservedKeys } from '../tags/reserved-key-records.ts';
import { OWNERS_TEAM_NAME } from '../teams/domain/team.ts';
import { joinTeam, removeTeam } from '../teams/membership-operations.ts';
import { teamNames, teamRecords, userOrganizations } from '../teams/team-records.ts';
import { deleteTokensOf } from '../tokens/token-operations.ts';
import { attributeViolation, type Violation } from '../validation/domain/violation.ts';
import {
  checkExecution,
  DEFAULT_EXECUTION_NAMES,
  decideOwnExecution,
  type Execution,
  type GivenExecution,
} from '../workspaces/domain/execution.ts';
import { forceDeleteWorkspaces } from '../workspaces/workspace-operations.ts';
import { workspaceNames } from '../workspaces/workspace-records.ts';
import {
  DEFAULT_ORGANIZATION_SETTINGS,
  isEmail,
  isOrganizationName,
  type Organization,
  type OrganizationSettings,
} from './domain/organization.ts';
import { decideOrganizationPermissions } from './domain/organization-permissions.ts';
import {
  findOrganizationByName,
  organizationNames,
  organizationRecords,
} from './organization-records.ts';

export interface GivenOrganization {
  readonly name?: string | undefined;
  readonly settings: Partial<OrganizationSettings>;
  readonly execution: GivenExecution;
}

const INITIAL_EXECUTION: Execution = { mode: 'remote', agentPoolId: null };

/** @param given name and mail address, as far as they are given */
export const checkOrganization = ({
  name,
  settings,
}: Pick<GivenOrganization, 'name' | 'settings'>): readonly Violation[] => {
  const violations: Violation[] = [];
  if (name !== undefined && !isOrganizationName(name)) {
    violations.push(
      attributeViolation('name', 'Name must be 3 to 40 letters, numbers, hyphens or underscores'),
    );
  }
  if (settings.email !== undefined && !isEmail(settings.email)) {
    violations.push(attributeViolation('email', 'Email is invalid'));
  }
  return violations;
};

const requireFreeName = async (reads: Reads, name: string): Promise<void> => {
  if ((await findOrganizationByName(reads, name)) !== undefined) {
    refuseInvalid([attributeViolation('name', 'Name has already been taken')]);
  }
};

/** Makes the organization with its owners team, which the creator joins, and its default project. */
export const createOrganization = (
  { store, clock }: ServiceContext,
  principal: Principal,
  given: GivenOrganization & { readonly name: string; readonly email: string },
): Promise<OrganizationAccessResult> =>
  store.transact(async (tx) => {
    if (principal.kind !== 'user' || !principal.siteAdmin) throw notFound('organization');
    refuseInvalid([
      ...checkOrganization(given),
      ...checkExecution(given.execution, undefined, DEFAULT_EXECUTION_NAMES),
    ]);
    await requireFreeName(tx, given.name);
    const createdAtMs = clock.nowMs();
    const organization: Organization = {
      id: newResourceId('org'),
      name: given.name,
      settings: { ...DEFAULT_ORGANIZATION_SETTINGS, ...given.settings, email: given.email },
      defaultExecution: decideOwnExecution(given.execution, INITIAL_EXECUTION) ?? INITIAL_EXECUTION,
      defaultProjectId: newResourceId('prj'),
      ownersTeamId: newResourceId('team'),
      retentionPolicy: null,
      createdAtMs,
    };
    const { agentPoolId } = organization.defaultExecution;
    await changePoolUse(tx, toPoolUser(organization.id), null, agentPoolId);
    organizationRecords.write(tx, [organization.id], organization);
    organizationNames.write(tx, [organization.name], { id: organization.id });
    projectRecords.write(tx, [organization.defaultProjectId], {
      id: organization.defaultProjectId,
      organizationId: organization.id,
      name: DEFAULT_PROJECT_NAME,
      description: '',
      autoDestroyActivityDuration: null,
      ownExecution: null,
      tagBindings: [],
      createdAtMs,
    });
    projectNames.write(tx, [organization.id, DEFAULT_PROJECT_NAME], {
      id: organization.defaultProjectId,
    });
    teamRecords.write(tx, [organization.ownersTeamId], {
      id: organization.ownersTeamId,
      organizationId: organization.id,
      name: OWNERS_TEAM_NAME,
      visibility: 'organization',
      ssoTeamId: null,
      organizationAccess: FULL_ORGANIZATION_ACCESS,
      allowMemberTokenManagement: true,
      serviceUserId: newResourceId('user'),
      createdAtMs,
    });
    teamNames.write(tx, [organization.id, OWNERS_TEAM_NAME], { id: organization.ownersTeamId });
    await joinTeam(tx, organization.id, organization.ownersTeamId, principal.id, createdAtMs);
    const standing = await findStanding(tx, principal, organization);
    if (standing === undefined) throw notFound('organization');
    return { organization, standing };
  });

const toPoolUser = (id: string): PoolUser => ({ kind: 'organization', id, organizationId: id });

export const updateOrganization = (
  { store }: ServiceContext,
  principal: Principal,
  currentName: string,
  given: GivenOrganization,
): Promise<OrganizationAccessResult> =>
  store.transact(async (tx) => {
    const { organization, standing } = await requireOrganization(tx, principal, currentName);
    if (!decideOrganizationPermissions(standing).canUpdate) throw notFound('organization');
    refuseInvalid([
      ...checkOrganization(given),
      ...checkExecution(given.execution, organization.defaultExecution, DEFAULT_EXECUTION_NAMES),
    ]);
    const next: Organization = {
      ...organization,
      name: given.name ?? organization.name,
      settings: { ...organization.settings, ...given.settings },
      defaultExecution:
        decideOwnExecution(given.execution, organization.defaultExecution) ?? INITIAL_EXECUTION,
    };
    await changePoolUse(
      tx,
      toPoolUser(next.id),
      organization.defaultExecution.agentPoolId,
      next.defaultExecution.agentPoolId,
    );
    if (next.name !== organization.name) {
      await requireFreeName(tx, next.name);
      organizationNames.delete(tx, organization.name);
      organizationNames.write(tx, [next.name], { id: next.id });
    }
    organizationRecords.write(tx, [next.id], next);
    return { organization: next, standing };
  });

const requireDestroyable = async (
  reads: Reads,
  principal: Principal,
  name: string,
): Promise<Organization> => {
  const { organization, standing } = await requireOrganization(reads, principal, name);
  if (!decideOrganizationPermissions(standing).canDestroy) throw notFound('organization');
  return organization;
};

/**
 * Deletes an organization with all that belongs to it. Its workspaces go first, some at a time, so that
 * one that is broken off leaves an organization with fewer workspaces, to be deleted again.
 * @throws KeelsonError `workspace.forbidden` for a workspace that the caller may not force-delete,
 *   `workspace.conflict` naming a workspace that was made meanwhile
 */
export const deleteOrganization = async (
  context: ServiceContext,
  principal: Principal,
  name: string,
): Promise<void> => {
  await requireDestroyable(context.store, principal, name);
  while ((await forceDeleteWorkspaces(context, principal, name)) > 0);
  await deleteEmptyOrganization(context, principal, name);
};

const deleteEmptyOrganization = (
  { store, clock }: ServiceContext,
  principal: Principal,
  name: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const organization = await requireDestroyable(tx, principal, name);
    const { id } = organization;
    const [workspace] = await workspaceNames.keys(tx, [id], { limit: 1 });
    if (workspace !== undefined) {
      throw new KeelsonError('workspace.conflict', {
        text: `the organization has the new workspace ${workspace}; try again`,
      });
    }
    for (const projectName of await projectNames.keys(tx, [id])) {
      const project = await projectNames.find(tx, id, projectName);
      if (project !== undefined) projectRecords.delete(tx, project.id);
      projectNames.delete(tx, id, projectName);
    }
    // Members are on a team, and go with the last one.
    for (const teamName of await teamNames.keys(tx, [id])) {
      const found = await teamNames.find(tx, id, teamName);
      const team = found && (await teamRecords.find(tx, found.id));
      if (team !== undefined) await removeTeam(tx, team);
    }
    for (const keyId of await organizationSshKeys.keys(tx, [id])) {
      sshKeyRecords.delete(tx, keyId);
      organizationSshKeys.delete(tx, id, keyId);
    }
    for (const clientId of await organizationOAuthClients.keys(tx, [id])) {
      const client = await oauthClientRecords.find(tx, clientId);
      if (client !== undefined) removeOAuthClient(tx, client);
    }
    for (const poolName of await agentPoolNames.keys(tx, [id])) {
      const found = await agentPoolNames.find(tx, id, poolName);
      const pool = found && (await agentPoolRecords.find(tx, found.id));
      if (pool !== undefined) await removeAgentPool(tx, pool, clock.nowMs());
    }
    for (const reserved of await loadReservedKeys(tx, id)) {
      reservedKeys.delete(tx, id, reserved.id);
      reservedKeyPlaces.delete(tx, reserved.id);
    }
    await deleteTokensOf(tx, id);
    noteRunDataPolicy(tx, id, organization.retentionPolicy, null);
    organizationNames.delete(tx, organization.name);
    organizationRecords.delete(tx, id);
  });

/** The organizations that the caller has a part in, by name. */
export const listOrganizations = async (
  { store }: ServiceContext,
  principal: Principal,
  search: string | undefined,
): Promise<readonly OrganizationAccessResult[]> => {
  const found: (Organization | undefined)[] = [];
  if (principal.kind === 'user') {
    const ids = await userOrganizations.keys(store, [principal.id]);
    found.push(...(await Promise.all(ids.map((id) => organizationRecords.find(store, id)))));
  } else {
    found.push(await findOrganizationByName(store, principal.organization));
  }
  const wanted = search?.toLowerCase();
  const results: OrganizationAccessResult[] = [];
  for (const organization of found) {
    if (organization === undefined) continue;
    const { name, settings } = organization;
    const matches = [name, settings.email].some((text) =>
      text.toLowerCase().includes(wanted ?? ''),
    );
    const standing = matches ? await findStanding(store, principal, organization) : undefined;
    if (standing !== undefined) results.push({ organization, standing });
  }
  return results.sort((a, b) => (a.organization.name < b.organization.name ? -1 : 1));
};
