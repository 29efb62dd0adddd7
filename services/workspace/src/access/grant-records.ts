import { keyedRecords } from '../records/keyed-records.ts';
import type {
  CustomWorkspaceRights,
  ProjectAccessLevel,
  ProjectGrant,
  WorkspaceAccessLevel,
} from './domain/team-grants.ts';

export interface TeamWorkspaceGrant {
  /** `tws-…`. */
  readonly id: string;
  readonly teamId: string;
  readonly workspaceId: string;
  readonly access: WorkspaceAccessLevel;
  /** Counts only when the access is `custom`. */
  readonly custom: CustomWorkspaceRights;
}

export interface TeamProjectGrant {
  /** `tprj-…`. */
  readonly id: string;
  readonly teamId: string;
  readonly projectId: string;
  readonly access: ProjectAccessLevel;
  /** Counts only when the access is `custom`. */
  readonly custom: ProjectGrant;
}

/** Keyed by team id, workspace id. */
export const teamWorkspaceGrants = keyedRecords<TeamWorkspaceGrant>('shared/team-workspaces/');

/** Keyed by team id, project id. */
export const teamProjectGrants = keyedRecords<TeamProjectGrant>('shared/team-projects/');

/** Grant id -> where it is. */
export const grantPlaces = keyedRecords<{ readonly teamId: string; readonly targetId: string }>(
  'shared/team-grant-places/',
);
