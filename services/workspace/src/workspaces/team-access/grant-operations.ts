/** Access of teams to single workspaces and to projects. */
import { invalidParameter, newResourceId, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type IndexedCollection, type Reads, readableOnly } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import { type OrganizationAccessResult } from '../../identity/access/organization-access-operations.ts';
import { findVisibleTeam, requireTeam } from '../../identity/access/team-access.ts';
import {
  loadProjectPermissions,
  loadWorkspaceAccess,
  requireProject,
  requireWorkspace,
} from '../access/access-operations.ts';
import {
  type TeamGrant,
  type TeamProjectGrant,
  type TeamWorkspaceGrant,
  teamProjectGrants,
  teamWorkspaceGrants,
} from '../access/grant-records.ts';
import { workspaceRecords } from '../model/workspace-records.ts';

type Grant = TeamGrant<unknown, unknown>;

/** One kind of grant: its records, and the permissions needed to see and change it. */
export interface GrantKind<G extends Grant> {
  readonly idPrefix: string;
  /** Name in filters. */
  readonly target: 'workspace' | 'project';
  readonly records: IndexedCollection<G, 'id' | 'targetId'>;
  /** The organization of the target, if the caller may see the grants on it. */
  requireReader(
    reads: Reads,
    principal: Principal,
    targetId: string,
  ): Promise<OrganizationAccessResult>;
  /** Whether a caller with these rights may see the grants on a target. */
  mayRead(reads: Reads, owner: OrganizationAccessResult, targetId: string): Promise<boolean>;
  /** Whether a caller with these rights may change the grants on a target. */
  requireManager(
    reads: Reads,
    principal: Principal,
    targetId: string,
  ): Promise<OrganizationAccessResult>;
}

const workspaceManager = (reads: Reads, principal: Principal, workspaceId: string) =>
  requireWorkspace(reads, principal, { workspaceId }, 'canUpdate');

export const WORKSPACE_GRANTS: GrantKind<TeamWorkspaceGrant> = {
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
  idPrefix: 'tprj',
  target: 'project',
  records: teamProjectGrants,
  requireReader: (reads, principal, projectId) =>
    requireProject(reads, principal, projectId, 'canReadTeams'),
  mayRead: async (reads, { organization, caller }, projectId) =>
    (await loadProjectPermissions(reads, caller, organization, projectId)).canReadTeams,
  requireManager: (reads, principal, projectId) =>
    requireProject(reads, principal, projectId, 'canManageTeams'),
};

const findGrant = async <G extends Grant>(
  kind: GrantKind<G>,
  reads: Reads,
  teamId: string,
  targetId: string,
): Promise<G | undefined> =>
  // Records are deeply read-only, as every field of a grant is.
  (await kind.records.find(reads, teamId, targetId)) as G | undefined;

const requireTeamOf = async (
  reads: Reads,
  owner: OrganizationAccessResult,
  teamId: string,
): Promise<void> => {
  if ((await findVisibleTeam(reads, owner, teamId)) === undefined) {
    refuseInvalid([{ pointer: '/data/relationships/team/data/id', text: 'Team not found' }]);
  }
};

/** @throws KeelsonError `jsonapi.invalid_attribute` when the team already has a grant on the target */
export const createGrant = <G extends Grant>(
  { store }: ServiceContext,
  principal: Principal,
  kind: GrantKind<G>,
  place: Pick<Grant, 'teamId' | 'targetId'>,
  build: (id: string) => G,
): Promise<G> =>
  store.transact(async (tx) => {
    const { teamId, targetId } = place;
    await requireTeamOf(tx, await kind.requireManager(tx, principal, targetId), teamId);
    if ((await findGrant(kind, tx, teamId, targetId)) !== undefined) {
      refuseInvalid([
        { pointer: '/data/relationships/team/data/id', text: 'Team has already been taken' },
      ]);
    }
    const grant = build(newResourceId(kind.idPrefix));
    await kind.records.write(tx, [teamId, targetId], grant);
    return grant;
  });

/**
 * A grant to a team that the caller may see.
 * @throws KeelsonError `workspace.not_found`
 */
export const requireGrant = async <G extends Grant>(
  reads: Reads,
  principal: Principal,
  kind: GrantKind<G>,
  grantId: string,
): Promise<G> => {
  const [grant] = await kind.records.by.id.records(reads, grantId);
  if (grant === undefined) throw notFound('team access');
  const owner = await kind.requireReader(reads, principal, grant.targetId);
  if ((await findVisibleTeam(reads, owner, grant.teamId)) === undefined)
    throw notFound('team access');
  return grant;
};

export const updateGrant = <G extends Grant>(
  { store }: ServiceContext,
  principal: Principal,
  kind: GrantKind<G>,
  grantId: string,
  change: (current: G) => G,
): Promise<G> =>
  store.transact(async (tx) => {
    const grant = await requireGrant(tx, principal, kind, grantId);
    await kind.requireManager(tx, principal, grant.targetId);
    const next = change(grant);
    await kind.records.write(tx, [grant.teamId, grant.targetId], next);
    return next;
  });

export const deleteGrant = <G extends Grant>(
  { store }: ServiceContext,
  principal: Principal,
  kind: GrantKind<G>,
  grantId: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const grant = await requireGrant(tx, principal, kind, grantId);
    await kind.requireManager(tx, principal, grant.targetId);
    await kind.records.delete(tx, grant.teamId, grant.targetId);
  });

/** The grants on one target, to teams that the caller may see, by team name. */
const listGrantsOn = async <G extends Grant>(
  { store }: ServiceContext,
  principal: Principal,
  kind: GrantKind<G>,
  targetId: string,
): Promise<readonly G[]> => {
  const owner = await kind.requireReader(store, principal, targetId);
  const grants = await kind.records.by.targetId.records(readableOnly(store), targetId);
  const found = await Promise.all(
    grants.map(async (grant) => ({
      team: await findVisibleTeam(readableOnly(store), owner, grant.teamId),
      grant,
    })),
  );
  return found
    .flatMap(({ team, grant }) => (team ? [{ name: team.name, grant }] : []))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ grant }) => grant);
};

/** The grants to one team, on targets whose grants the caller may see. */
const listGrantsTo = async <G extends Grant>(
  { store }: ServiceContext,
  principal: Principal,
  kind: GrantKind<G>,
  teamId: string,
): Promise<readonly G[]> => {
  const owner = await requireTeam(store, principal, teamId);
  const grants: G[] = [];
  for (const targetId of await kind.records.keys(store, [teamId])) {
    const grant = await findGrant(kind, readableOnly(store), teamId, targetId);
    if (grant !== undefined && (await kind.mayRead(readableOnly(store), owner, targetId)))
      grants.push(grant);
  }
  return grants;
};

/** Filter for grants by target, team, or both. */
export interface GrantFilter {
  readonly targetId: string | undefined;
  readonly teamId: string | undefined;
}

/**
 * The grants on a target, to a team, or both, as far as the caller may see them.
 * @throws KeelsonError `workspace.not_found` for a target or team whose grants the caller may not see,
 * `jsonapi.invalid_attribute` when neither is given
 */
export const listGrants = async <G extends Grant>(
  context: ServiceContext,
  principal: Principal,
  kind: GrantKind<G>,
  { targetId, teamId }: GrantFilter,
): Promise<readonly G[]> => {
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
