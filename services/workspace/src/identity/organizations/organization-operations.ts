import { newResourceId, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { deleteOwned, type Reads, readableOnly, unlessDamaged } from '@keelson/storage';
import {
  checkExecution,
  DEFAULT_EXECUTION_NAMES,
  decideOwnExecution,
  type Execution,
  type ExecutionInput,
} from '../../base/execution/domain/execution.ts';
import { notFound } from '../../base/not-found.ts';
import { recordRunDataPolicy } from '../../base/retention/retention-records.ts';
import { attributeViolation, type Violation } from '../../base/validation/domain/violation.ts';
import { decideOrganizationPermissions } from '../access/domain/organization-permissions.ts';
import {
  findCallerAccess,
  findCallerRights,
  type OrganizationAccessResult,
  requireOrganization,
  usesTooLongToken,
} from '../access/organization-access-operations.ts';
import { hasSecondFactor, isWithoutSecondFactor } from '../access/second-factor-access.ts';
import {
  DEFAULT_ORGANIZATION_SETTINGS,
  isEmail,
  isOrganizationName,
  type Organization,
  type OrganizationSettings,
} from '../model/domain/organization.ts';
import { FULL_ORGANIZATION_ACCESS } from '../model/domain/organization-access.ts';
import { OWNERS_TEAM_NAME } from '../model/domain/team.ts';
import { findOrganizationByName, organizationRecords } from '../model/organization-records.ts';
import {
  listOrganizationsOf,
  loadTeams,
  membershipRecords,
  teamRecords,
} from '../model/team-records.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { endMembership, joinTeam, removeTeam } from '../teams/membership-operations.ts';
import { requireOwnTokenWithin } from '../token-lifetimes/token-lifetime-operations.ts';

export interface OrganizationInput {
  readonly name?: string | undefined;
  readonly settings: Partial<OrganizationSettings>;
  readonly execution: ExecutionInput;
}

const INITIAL_EXECUTION: Execution = { mode: 'remote', agentPoolId: null };

/** @param given name and email address, each if present in the request */
export const checkOrganization = ({
  name,
  settings,
}: Pick<OrganizationInput, 'name' | 'settings'>): readonly Violation[] => {
  const violations: Violation[] = [];
  if (name !== undefined && !isOrganizationName(name)) {
    violations.push(
      attributeViolation('name', 'Name must be 3 to 90 letters, numbers, hyphens or underscores'),
    );
  }
  if (settings.email !== undefined && !isEmail(settings.email)) {
    violations.push(attributeViolation('email', 'Email is invalid'));
  }
  return violations;
};

const requireFreeName = async (reads: Reads, name: string, id?: string): Promise<void> => {
  const found = await findOrganizationByName(reads, name);
  if (found !== undefined && found.id !== id) {
    refuseInvalid([attributeViolation('name', 'Name has already been taken')]);
  }
};

/**
 * Whoever asks for a second factor has one, and would else shut the door from outside.
 * @throws KeelsonError `jsonapi.invalid_attribute`
 */
const requireOwnFactor = async (
  reads: Reads,
  principal: Principal,
  { collaboratorAuthPolicy }: Partial<OrganizationSettings>,
): Promise<void> => {
  if (collaboratorAuthPolicy !== 'two_factor_mandatory') return;
  if (principal.kind === 'user' && (await hasSecondFactor(reads, principal))) return;
  refuseInvalid([
    attributeViolation(
      'collaborator-auth-policy',
      'may be two_factor_mandatory only if you have two-factor authentication yourself: set it up for your account first',
    ),
  ]);
};

/** Creates the organization and its owners team, with the creator as a member. */
export const createOrganization = (
  { store, clock, organizationSteps }: IdentityContext,
  principal: Principal,
  given: OrganizationInput & { readonly name: string; readonly email: string },
): Promise<OrganizationAccessResult> =>
  store.transact(async (tx) => {
    if (principal.kind !== 'user' || !principal.siteAdmin) throw notFound('organization');
    refuseInvalid([
      ...checkOrganization(given),
      ...checkExecution(given.execution, undefined, DEFAULT_EXECUTION_NAMES),
    ]);
    await requireOwnFactor(tx, principal, given.settings);
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
    await requireOwnTokenWithin(tx, principal, organization, 'max-ttl-enabled');
    await organizationRecords.write(tx, organization.id, organization);
    await teamRecords.write(tx, [organization.ownersTeamId], {
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
    await joinTeam(tx, organization.id, organization.ownersTeamId, principal.id, createdAtMs);
    for (const step of organizationSteps) await step.onOrganizationCreated?.(tx, organization);
    const caller = await findCallerAccess(tx, principal, organization);
    if (caller === undefined) throw notFound('organization');
    return { organization, caller };
  });

export const updateOrganization = (
  { store, organizationSteps }: IdentityContext,
  principal: Principal,
  currentName: string,
  given: OrganizationInput,
): Promise<OrganizationAccessResult> =>
  store.transact(async (tx) => {
    const { organization, caller } = await requireOrganization(tx, principal, currentName);
    if (!decideOrganizationPermissions(caller).canUpdate) throw notFound('organization');
    refuseInvalid([
      ...checkOrganization(given),
      ...checkExecution(given.execution, organization.defaultExecution, DEFAULT_EXECUTION_NAMES),
    ]);
    if (given.settings.collaboratorAuthPolicy !== organization.settings.collaboratorAuthPolicy)
      await requireOwnFactor(tx, principal, given.settings);
    const next: Organization = {
      ...organization,
      name: given.name ?? organization.name,
      settings: { ...organization.settings, ...given.settings },
      defaultExecution:
        decideOwnExecution(given.execution, organization.defaultExecution) ?? INITIAL_EXECUTION,
    };
    await requireOwnTokenWithin(tx, principal, next, 'max-ttl-enabled');
    if (next.name !== organization.name) await requireFreeName(tx, next.name, next.id);
    await organizationRecords.write(tx, next.id, next);
    for (const step of organizationSteps) {
      await step.onOrganizationUpdated?.(tx, organization, next);
    }
    return { organization: next, caller };
  });

const requireDestroyable = async (
  reads: Reads,
  principal: Principal,
  name: string,
): Promise<Organization> => {
  const { organization, caller } = await requireOrganization(reads, principal, name);
  if (!decideOrganizationPermissions(caller).canDestroy) throw notFound('organization');
  return organization;
};

/**
 * Deletes an organization with everything that belongs to it. After an interrupted deletion the
 * organization still exists and can be deleted again.
 * @throws KeelsonError `workspace.forbidden`, or `workspace.conflict` when a step refuses
 */
export const deleteOrganization = async (
  { store, organizationSteps }: IdentityContext,
  principal: Principal,
  name: string,
): Promise<void> => {
  await requireDestroyable(store, principal, name);
  for (const step of organizationSteps) await step.beforeOrganizationRemoved?.(principal, name);
  await store.transact(async (tx) => {
    const organization = await requireDestroyable(tx, principal, name);
    const { id } = organization;
    for (const step of organizationSteps) await step.onOrganizationRemoved?.(tx, organization);
    for (const team of await loadTeams(tx, id)) await removeTeam(tx, team);
    for (const userId of await membershipRecords.keys(tx, [id])) {
      await endMembership(tx, id, userId);
    }
    recordRunDataPolicy(tx, id, organization.retentionPolicy, null);
    await deleteOwned(tx, { kind: 'organization', id });
    await organizationRecords.delete(tx, id);
  });
};

/** The organizations of the caller, by name, with those that are off and those that ask for a second factor. */
export const listOrganizations = async (
  { store }: IdentityContext,
  principal: Principal,
  search: string | undefined,
): Promise<readonly OrganizationAccessResult[]> => {
  const found: (Organization | undefined)[] = [];
  if (principal.kind === 'user') {
    const ids = await listOrganizationsOf(store, principal.id);
    found.push(
      ...(await Promise.all(ids.map((id) => organizationRecords.find(readableOnly(store), id)))),
    );
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
    const caller = matches
      ? await unlessDamaged(findCallerRights(store, principal, organization))
      : undefined;
    if (caller === undefined) continue;
    if (await usesTooLongToken(store, principal, organization)) continue;
    const lacksSecondFactor = await isWithoutSecondFactor(store, principal, organization);
    results.push({ organization, caller, ...(lacksSecondFactor && { lacksSecondFactor }) });
  }
  return results.sort((a, b) => (a.organization.name < b.organization.name ? -1 : 1));
};
