import { collection, type RecordCollection, type Transaction } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** A team's grant on one workspace or project. */
export interface TeamGrant<Level, Custom> {
  /** `tws-…` or `tprj-…`. */
  readonly id: string;
  readonly teamId: string;
  /** `ws-…` or `prj-…`. */
  readonly targetId: string;
  readonly access: Level;
  /** Used only when the access is `custom`. */
  readonly custom: Custom;
}

export const teamWorkspaceGrantShape = Type.Object({
  /** `tws-…` or `tprj-…`. */
  id: Type.String(),
  teamId: Type.String(),
  /** `ws-…` or `prj-…`. */
  targetId: Type.String(),
  access: Type.Enum(['read', 'plan', 'write', 'admin', 'custom']),
  /** Used only when the access is `custom`. */
  custom: Type.Object({
    runs: Type.Enum(['read', 'plan', 'none', 'apply']),
    variables: Type.Enum(['read', 'write', 'none']),
    stateVersions: Type.Enum(['read', 'write', 'none', 'read-outputs']),
    sentinelMocks: Type.Enum(['read', 'none']),
    workspaceLocking: Type.Boolean(),
    runTasks: Type.Boolean(),
  }),
});
export type TeamWorkspaceGrant = Shaped<typeof teamWorkspaceGrantShape>;
export const teamProjectGrantShape = Type.Object({
  /** `tws-…` or `tprj-…`. */
  id: Type.String(),
  teamId: Type.String(),
  /** `ws-…` or `prj-…`. */
  targetId: Type.String(),
  access: Type.Enum(['read', 'write', 'admin', 'custom', 'maintain']),
  /** Used only when the access is `custom`. */
  custom: Type.Object({
    projectAccess: Type.Object({
      settings: Type.Enum(['read', 'update', 'delete']),
      teams: Type.Enum(['read', 'none', 'manage']),
      variableSets: Type.Enum(['read', 'write', 'none']),
    }),
    workspaceAccess: Type.Object({
      runs: Type.Enum(['read', 'plan', 'none', 'apply']),
      sentinelMocks: Type.Enum(['read', 'none']),
      stateVersions: Type.Enum(['read', 'write', 'none', 'read-outputs']),
      variables: Type.Enum(['read', 'write', 'none']),
      create: Type.Boolean(),
      locking: Type.Boolean(),
      delete: Type.Boolean(),
      move: Type.Boolean(),
      runTasks: Type.Boolean(),
    }),
  }),
});
export type TeamProjectGrant = Shaped<typeof teamProjectGrantShape>;

/** Keyed by team id, workspace id. */
export const teamWorkspaceGrants = collection('team-workspaces', {
  scope: 'shared',
  version: 1,
  shape: teamWorkspaceGrantShape,
});

/** Keyed by team id, project id. */
export const teamProjectGrants = collection('team-projects', {
  scope: 'shared',
  version: 1,
  shape: teamProjectGrantShape,
});

/** Grant id -> team and target. */
export const grantPlaces = collection('team-grant-places', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ teamId: Type.String(), targetId: Type.String() }),
});

/** Target id, team id: the teams that hold a grant on a workspace or project. */
export const grantedTeams = collection('granted-teams', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({}),
});

type AnyGrant = TeamGrant<unknown, unknown>;

export const writeGrant = <G extends AnyGrant>(
  tx: Transaction,
  records: RecordCollection<G>,
  grant: G,
): void => {
  const { id, teamId, targetId } = grant;
  records.write(tx, [teamId, targetId], grant);
  grantPlaces.write(tx, [id], { teamId, targetId });
  grantedTeams.write(tx, [targetId, teamId], {});
};

export const removeGrant = (
  tx: Transaction,
  records: Pick<RecordCollection<AnyGrant>, 'delete'>,
  { id, teamId, targetId }: Pick<AnyGrant, 'id' | 'teamId' | 'targetId'>,
): void => {
  records.delete(tx, teamId, targetId);
  grantPlaces.delete(tx, id);
  grantedTeams.delete(tx, targetId, teamId);
};

/** Removes the grants on a workspace or project that is deleted. */
export const removeGrantsOn = async (
  tx: Transaction,
  records: Pick<RecordCollection<AnyGrant>, 'find' | 'delete'>,
  targetId: string,
): Promise<void> => {
  for (const teamId of await grantedTeams.keys(tx, [targetId])) {
    const grant = await records.find(tx, teamId, targetId);
    if (grant !== undefined) removeGrant(tx, records, grant);
  }
};

/** Removes the grants to a team that is deleted. */
export const removeGrantsTo = async (tx: Transaction, teamId: string): Promise<void> => {
  for (const records of [teamWorkspaceGrants, teamProjectGrants]) {
    for (const targetId of await records.keys(tx, [teamId])) {
      const grant = await records.find(tx, teamId, targetId);
      if (grant !== undefined) removeGrant(tx, records, grant);
    }
  }
};
