/** Request and response forms of grants on workspaces and projects. */
import type { Resource, UnsupportedFields } from '@keelson/jsonapi';
import { type TProperties, Type } from 'typebox';
import { toCamelKeys } from '../../base/validation/attribute-names.ts';
import {
  type CustomWorkspaceRights,
  LEAST_CUSTOM_PROJECT_GRANT,
  LEAST_CUSTOM_RIGHTS,
  PROJECT_ACCESS_LEVELS,
  type ProjectAccess,
  type ProjectAccessLevel,
  type ProjectGrant,
  type ProjectWorkspaceAccess,
  WORKSPACE_ACCESS_LEVELS,
  type WorkspaceAccessLevel,
} from '../access/domain/team-grants.ts';
import { MOCKS_RIGHTS, STATE_RIGHTS, VARIABLES_RIGHTS } from '../access/domain/workspace-rights.ts';
import type { TeamGrant } from '../access/grant-records.ts';
import { toTeamProjectResource, toTeamWorkspaceResource } from './grant-document.ts';
import { type GrantKind, PROJECT_GRANTS, WORKSPACE_GRANTS } from './grant-operations.ts';

export interface GrantForm<Level extends string, Custom, Rights> {
  readonly kind: GrantKind<TeamGrant<Level, Custom>>;
  readonly type: 'team-workspaces' | 'team-projects';
  readonly levels: readonly Level[];
  /** Schemas of the attributes that only a custom grant may set; together they are `Rights`. */
  readonly rights: TProperties;
  readonly notOffered: UnsupportedFields;
  readonly withoutEffect: UnsupportedFields;
  /** The first custom right that a request sets. */
  firstRight(this: void, rights: Rights): string | undefined;
  /** The rights of a new custom grant. */
  readonly leastCustom: Custom;
  change(this: void, current: Custom, rights: Rights): Custom;
  toResource(
    this: void,
    grant: TeamGrant<Level, Custom>,
  ): Resource<'team-workspaces' | 'team-projects'>;
}

const oneOf = <T extends string>(values: readonly T[]) =>
  Type.Optional(Type.Union(values.map((value) => Type.Literal(value))));
const NO_POLICIES = 'there are no policies';
const NO_RUN_TASKS = 'there are no run tasks';

const flag = Type.Optional(Type.Boolean());

interface WorkspaceRights {
  readonly runs?: CustomWorkspaceRights['runs'];
  readonly variables?: CustomWorkspaceRights['variables'];
  readonly 'state-versions'?: CustomWorkspaceRights['stateVersions'];
  readonly 'sentinel-mocks'?: CustomWorkspaceRights['sentinelMocks'];
  readonly 'workspace-locking'?: boolean;
  readonly 'run-tasks'?: boolean;
}

export const WORKSPACE_GRANT_FORM: GrantForm<
  WorkspaceAccessLevel,
  CustomWorkspaceRights,
  WorkspaceRights
> = {
  kind: WORKSPACE_GRANTS,
  type: 'team-workspaces',
  levels: WORKSPACE_ACCESS_LEVELS,
  rights: {
    runs: oneOf(['read', 'plan', 'apply']),
    variables: oneOf(VARIABLES_RIGHTS),
    'state-versions': oneOf(STATE_RIGHTS),
    'sentinel-mocks': oneOf(MOCKS_RIGHTS),
    'workspace-locking': flag,
    'run-tasks': flag,
  },
  notOffered: { 'attributes/policy-overrides': NO_POLICIES },
  withoutEffect: {
    'attributes/run-tasks': NO_RUN_TASKS,
    'attributes/sentinel-mocks': NO_POLICIES,
  },
  firstRight: (rights) => Object.keys(rights)[0],
  leastCustom: LEAST_CUSTOM_RIGHTS,
  change: (current, rights) => ({ ...current, ...toCamelKeys(rights) }),
  toResource: toTeamWorkspaceResource,
};

interface ProjectRights {
  readonly 'project-access'?: {
    readonly settings?: ProjectAccess['settings'];
    readonly teams?: ProjectAccess['teams'];
    readonly 'variable-sets'?: ProjectAccess['variableSets'];
  };
  readonly 'workspace-access'?: {
    readonly runs?: ProjectWorkspaceAccess['runs'];
    readonly 'sentinel-mocks'?: ProjectWorkspaceAccess['sentinelMocks'];
    readonly 'state-versions'?: ProjectWorkspaceAccess['stateVersions'];
    readonly variables?: ProjectWorkspaceAccess['variables'];
    readonly create?: boolean;
    readonly locking?: boolean;
    readonly delete?: boolean;
    readonly move?: boolean;
    readonly 'run-tasks'?: boolean;
  };
}

export const PROJECT_GRANT_FORM: GrantForm<ProjectAccessLevel, ProjectGrant, ProjectRights> = {
  kind: PROJECT_GRANTS,
  type: 'team-projects',
  levels: PROJECT_ACCESS_LEVELS,
  rights: {
    'project-access': Type.Optional(
      Type.Object({
        settings: oneOf(['read', 'update', 'delete']),
        teams: oneOf(['none', 'read', 'manage']),
        'variable-sets': oneOf(['none', 'read', 'write']),
      }),
    ),
    'workspace-access': Type.Optional(
      Type.Object({
        runs: oneOf(['read', 'plan', 'apply']),
        'sentinel-mocks': oneOf(MOCKS_RIGHTS),
        'state-versions': oneOf(STATE_RIGHTS),
        variables: oneOf(VARIABLES_RIGHTS),
        create: flag,
        locking: flag,
        delete: flag,
        move: flag,
        'run-tasks': flag,
      }),
    ),
  },
  notOffered: { 'attributes/workspace-access/policy-overrides': NO_POLICIES },
  withoutEffect: {
    'attributes/workspace-access/run-tasks': NO_RUN_TASKS,
    'attributes/workspace-access/sentinel-mocks': NO_POLICIES,
  },
  firstRight: (rights) =>
    Object.entries(rights).find(([, group]) => Object.keys(group).length > 0)?.[0],
  leastCustom: LEAST_CUSTOM_PROJECT_GRANT,
  change: ({ projectAccess, workspaceAccess }, rights) => ({
    projectAccess: { ...projectAccess, ...toCamelKeys(rights['project-access'] ?? {}) },
    workspaceAccess: { ...workspaceAccess, ...toCamelKeys(rights['workspace-access'] ?? {}) },
  }),
  toResource: toTeamProjectResource,
};
