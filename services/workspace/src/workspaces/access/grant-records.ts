import type { RecordCollection, Transaction } from '@keelson/storage';
import { keyedRecords } from '../../base/keyed-records.ts';
import type {
  CustomWorkspaceRights,
  ProjectAccessLevel,
  ProjectGrant,
  WorkspaceAccessLevel,
} from './domain/team-grants.ts';

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

export type TeamWorkspaceGrant = TeamGrant<WorkspaceAccessLevel, CustomWorkspaceRights>;
export type TeamProjectGrant = TeamGrant<ProjectAccessLevel, ProjectGrant>;

/** Keyed by team id, workspace id. */
export const teamWorkspaceGrants = keyedRecords<TeamWorkspaceGrant>('shared/team-workspaces/');

/** Keyed by team id, project id. */
export const teamProjectGrants = keyedRecords<TeamProjectGrant>('shared/team-projects/');

/** Grant id -> team and target. */
export const grantPlaces = keyedRecords<{ readonly teamId: string; readonly targetId: string }>(
  'shared/team-grant-places/',
);

/** Target id, team id: the teams that hold a grant on a workspace or project. */
export const grantedTeams = keyedRecords<Record<never, never>>('shared/granted-teams/');

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
