import {
  API_PREFIX,
  choice,
  type ResourceOf,
  relatedOne,
  resourceSchema,
  toOne,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import { toKebabKeys } from '../../base/validation/attribute-names.ts';
import {
  PROJECT_ACCESS_LEVELS,
  toProjectGrant,
  toWorkspaceRights,
  WORKSPACE_ACCESS_LEVELS,
} from '../access/domain/team-grants.ts';
import {
  MOCKS_RIGHTS,
  RUNS_RIGHTS,
  STATE_RIGHTS,
  VARIABLES_RIGHTS,
} from '../access/domain/workspace-rights.ts';
import type { TeamProjectGrant, TeamWorkspaceGrant } from '../access/grant-records.ts';

const ACCESS = { description: 'The rights below follow from it, unless it is `custom`.' };

export const TEAM_WORKSPACE = resourceSchema({
  type: 'team-workspaces',
  description: 'Access of a team to a workspace.',
  attributes: {
    access: choice(WORKSPACE_ACCESS_LEVELS, ACCESS),
    runs: choice(RUNS_RIGHTS),
    variables: choice(VARIABLES_RIGHTS),
    'state-versions': choice(STATE_RIGHTS),
    'sentinel-mocks': choice(MOCKS_RIGHTS),
    'workspace-locking': Type.Boolean(),
    'run-tasks': Type.Boolean(),
  },
  relationships: { team: relatedOne('teams'), workspace: relatedOne('workspaces') },
  links: ['self'],
});

export const TEAM_PROJECT = resourceSchema({
  type: 'team-projects',
  description: 'Access of a team to a project and to the workspaces in it.',
  attributes: {
    access: choice(PROJECT_ACCESS_LEVELS, ACCESS),
    'project-access': Type.Object({
      settings: choice(['read', 'update', 'delete']),
      teams: choice(['none', 'read', 'manage']),
      'variable-sets': choice(['none', 'read', 'write']),
    }),
    'workspace-access': Type.Object({
      runs: choice(RUNS_RIGHTS),
      'sentinel-mocks': choice(MOCKS_RIGHTS),
      'state-versions': choice(STATE_RIGHTS),
      variables: choice(VARIABLES_RIGHTS),
      create: Type.Boolean(),
      locking: Type.Boolean(),
      delete: Type.Boolean(),
      move: Type.Boolean(),
      'run-tasks': Type.Boolean(),
    }),
  },
  relationships: { team: relatedOne('teams'), project: relatedOne('projects') },
  links: ['self'],
});

export const toTeamWorkspaceResource = ({
  id,
  teamId,
  targetId,
  access,
  custom,
}: TeamWorkspaceGrant): ResourceOf<typeof TEAM_WORKSPACE> => {
  const { runs, variables, stateVersions, sentinelMocks, workspaceLocking, runTasks } =
    toWorkspaceRights(access, custom);
  const rights = { runs, variables, stateVersions, sentinelMocks, workspaceLocking, runTasks };
  return {
    id,
    type: 'team-workspaces',
    attributes: { access, ...toKebabKeys(rights) },
    relationships: { team: toOne('teams', teamId), workspace: toOne('workspaces', targetId) },
    links: { self: `${API_PREFIX}/team-workspaces/${id}` },
  };
};

export const toTeamProjectResource = ({
  id,
  teamId,
  targetId,
  access,
  custom,
}: TeamProjectGrant): ResourceOf<typeof TEAM_PROJECT> => {
  const { projectAccess, workspaceAccess } = toProjectGrant(access, custom);
  return {
    id,
    type: 'team-projects',
    attributes: {
      access,
      'project-access': toKebabKeys(projectAccess),
      'workspace-access': toKebabKeys(workspaceAccess),
    },
    relationships: { team: toOne('teams', teamId), project: toOne('projects', targetId) },
    links: { self: `${API_PREFIX}/team-projects/${id}` },
  };
};
