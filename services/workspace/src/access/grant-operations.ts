/** Access of teams to single workspaces and to projects. */
import { invalidParameter, newResourceId, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { ReadonlyDeep, Reads, Transaction } from '@keelson/storage';
import type { KeyedRecords } from '../records/keyed-records.ts';
import type { ServiceContext } from '../service-context.ts';
import { findVisibleTeam, requireTeam } from '../teams/team-access.ts';
import { teamNames } from '../teams/team-records.ts';
import { workspaceRecords } from '../workspaces/workspace-records.ts';
import {
  loadProjectPermissions,
  loadWorkspaceAccess,
  notFound,
  type OrganizationAccessResult,
  requireProject,
  requireWorkspace,
} from './access-operations.ts';
import {
  grantPlaces,
  type TeamProjectGrant,
  type TeamWorkspaceGrant,
  teamProjectGrants,
  teamWorkspaceGrants,
} from './grant-records.ts';

/** One kind of grant: where it is kept and who may see and change it. */
export interface GrantKind<G extends { readonly id: string; readonly teamId: string }> {
  readonly resource: string;
  readonly idPrefix: string;
  /** As filters name it. */
  readonly target: 'workspace' | 'project';
  readonly records: KeyedRecords<G>;
  /** The organization of the target when the caller may see the grants on it. */
  requireReader(
    reads: Reads,
    principal: Principal,
    targetId: string,
  ): Promise<OrganizationAccessResult>;
  /** Whether a caller of that standing may see the grants on a target. */
  mayRead(reads: Reads, owner: OrganizationAccessResult, targetId: string): Promise<boolean>;
  /** The same when it may change them. */
  requireManager(
    reads: Reads,
    principal: Principal,
    targetId: string,
  ): Promise<OrganizationAccessResult>;
}

const workspaceManager = (reads: Reads, principal: Principal, workspaceId: string) =>
  requireWorkspace(reads, principal, { workspaceId }, 'canUpdate');

export const WORKSPACE_GRANTS: GrantKind<TeamWorkspaceGrant> = {
  resource: 'team access',
  idPrefix: 'tws',
  target: 'workspace',
  records: teamWorkspaceGrants,
  requireReader: workspaceManager,
  mayRead: async (reads, owner, workspaceId) => {
    const workspace = await workspaceRecords.find(reads, workspaceId);
    if (workspace === undefined) return false;
    return (await loadWorkspaceAccess(reads, owner, workspace)).permissions.canUpdate;
  },
  requireManager: workspaceManager,
};

export const PROJECT_GRANTS: GrantKind<TeamProjectGrant> = {
  resource: 'team access',
  idPrefix: 'tprj',
  target: 'project',
  records: teamProjectGrants,
  requireReader: (reads, principal, projectId) =>
    requireProject(reads, principal, projectId, 'canReadTeams'),
  mayRead: async (reads, { organization, standing }, projectId) =>
    (await loadProjectPermissions(reads, standing, organization, projectId)).canReadTeams,
  requireManager: (reads, principal, projectId) =>
    requireProject(reads, principal, projectId, 'canManageTeams'),
};

const requireTeamOf = async (
  reads: Reads,
  owner: OrganizationAccessResult,
  teamId: string,
): Promise<void> => {
  if ((await findVisibleTeam(reads, owner, teamId)) === undefined) {
    refuseInvalid([{ pointer: '/data/relationships/team/data/id', text: 'Team not found' }]);
  }
};

type Grant = { readonly id: string; readonly teamId: string };

const storeGrant = <G extends Grant>(
  tx: Transaction,
  kind: GrantKind<G>,
  grant: G,
  targetId: string,
): void => {
  kind.records.write(tx, [grant.teamId, targetId], grant);
  grantPlaces.write(tx, [grant.id], { teamId: grant.teamId, targetId });
};

/** @throws KeelsonError `jsonapi.invalid_attribute` when the team has a grant there already */
export const createGrant = <G extends Grant>(
  { store }: ServiceContext,
  principal: Principal,
  kind: GrantKind<G>,
  place: { readonly teamId: string; readonly targetId: string },
  build: (id: string) => G,
): Promise<G> =>
  store.transact(async (tx) => {
    const { teamId, targetId } = place;
    await requireTeamOf(tx, await kind.requireManager(tx, principal, targetId), teamId);
    if ((await kind.records.find(tx, teamId, targetId)) !== undefined) {
      refuseInvalid([
        { pointer: '/data/relationships/team/data/id', text: 'Team has already been taken' },
      ]);
    }
    const grant = build(newResourceId(kind.idPrefix));
    storeGrant(tx, kind, grant, targetId);
    return grant;
  });

/** A grant to a team that the caller sees. @throws KeelsonError `workspace.not_found` */
export const requireGrant = async <G extends Grant>(
  reads: Reads,
  principal: Principal,
  kind: GrantKind<G>,
  grantId: string,
): Promise<{ readonly grant: ReadonlyDeep<G>; readonly targetId: string }> => {
  const place = await grantPlaces.find(reads, grantId);
  const grant = place && (await kind.records.find(reads, place.teamId, place.targetId));
  if (place === undefined || grant?.id !== grantId) throw notFound(kind.resource);
  const owner = await kind.requireReader(reads, principal, place.targetId);
  if ((await findVisibleTeam(reads, owner, place.teamId)) === undefined)
    throw notFound(kind.resource);
  return { grant, targetId: place.targetId };
};

export const updateGrant = <G extends Grant>(
  { store }: ServiceContext,
  principal: Principal,
  kind: GrantKind<G>,
  grantId: string,
  change: (current: ReadonlyDeep<G>) => G,
): Promise<G> =>
  store.transact(async (tx) => {
    const { grant, targetId } = await requireGrant(tx, principal, kind, grantId);
    await kind.requireManager(tx, principal, targetId);
    const next = change(grant);
    storeGrant(tx, kind, next, targetId);
    return next;
  });

export const deleteGrant = <G extends Grant>(
  { store }: ServiceContext,
  principal: Principal,
  kind: GrantKind<G>,
  grantId: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const { grant, targetId } = await requireGrant(tx, principal, kind, grantId);
    await kind.requireManager(tx, principal, targetId);
    kind.records.delete(tx, grant.teamId, targetId);
    grantPlaces.delete(tx, grant.id);
  });

/** The grants on one target to teams that the caller sees, by team name. */
const listGrantsOn = async <G extends Grant>(
  { store }: ServiceContext,
  principal: Principal,
  kind: GrantKind<G>,
  targetId: string,
): Promise<readonly ReadonlyDeep<G>[]> => {
  const owner = await kind.requireReader(store, principal, targetId);
  const organizationId = owner.organization.id;
  const grants: ReadonlyDeep<G>[] = [];
  for (const name of await teamNames.keys(store, [organizationId])) {
    const place = await teamNames.find(store, organizationId, name);
    const team = place && (await findVisibleTeam(store, owner, place.id));
    const grant = team && (await kind.records.find(store, team.id, targetId));
    if (grant !== undefined) grants.push(grant);
  }
  return grants;
};

/** The grants to one team on the targets whose grants the caller may see. */
const listGrantsTo = async <G extends Grant>(
  { store }: ServiceContext,
  principal: Principal,
  kind: GrantKind<G>,
  teamId: string,
): Promise<readonly ReadonlyDeep<G>[]> => {
  const owner = await requireTeam(store, principal, teamId);
  const grants: ReadonlyDeep<G>[] = [];
  for (const targetId of await kind.records.keys(store, [teamId])) {
    const grant = await kind.records.find(store, teamId, targetId);
    if (grant !== undefined && (await kind.mayRead(store, owner, targetId))) grants.push(grant);
  }
  return grants;
};

/** Filter of a list of grants: the target, the team, or both. */
export interface GrantFilter {
  readonly targetId: string | undefined;
  readonly teamId: string | undefined;
}

/**
 * The grants on a target, to a team, or both, as far as the caller sees them.
 * @throws KeelsonError `workspace.not_found` for a target whose grants, or a team, the caller may not see,
 *   `jsonapi.invalid_attribute` when neither is given
 */
export const listGrants = async <G extends Grant>(
  context: ServiceContext,
  principal: Principal,
  kind: GrantKind<G>,
  { targetId, teamId }: GrantFilter,
): Promise<readonly ReadonlyDeep<G>[]> => {
  if (targetId !== undefined) {
    const grants = await listGrantsOn(context, principal, kind, targetId);
    return grants.filter((grant) => teamId === undefined || grant.teamId === teamId);
  }
  if (teamId !== undefined) return listGrantsTo(context, principal, kind, teamId);
  throw invalidParameter(
    `filter[${kind.target}][id]`,
    `filter[${kind.target}][id] or filter[team][id] is required`,
  );
};
