import { collection } from '@keelson/storage';
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
  owner: [
    { kind: 'team', by: '*' },
    { kind: 'workspace', by: 'targetId' },
  ],
  index: ['id', 'targetId'],
});

/** Keyed by team id, project id. */
export const teamProjectGrants = collection('team-projects', {
  scope: 'shared',
  version: 1,
  shape: teamProjectGrantShape,
  owner: [
    { kind: 'team', by: '*' },
    { kind: 'project', by: 'targetId' },
  ],
  index: ['id', 'targetId'],
});
