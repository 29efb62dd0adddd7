import {
  API_PREFIX,
  type ResourceOf,
  relatedMany,
  relatedOne,
  resourceSchema,
  timestamp,
  toMany,
  toOne,
  toTimestamp,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { Organization } from '../../identity/model/domain/organization.ts';
import {
  toVariableAttributes,
  toVariableResource,
  type VARIABLE,
} from '../variables/variable-document.ts';
import type { EffectiveVariable } from './domain/precedence.ts';
import type { SetVariable, VariableSet } from './domain/variable-set.ts';

export interface VariableSetView {
  readonly set: VariableSet;
  readonly organization: Organization;
  /** Workspaces and projects that the set is applied to and the reader may see. */
  readonly workspaceIds: readonly string[];
  readonly projectIds: readonly string[];
}

const target = Type.Integer({ description: 'All, also those that the caller may not see.' });

export const VARIABLE_SET = resourceSchema({
  type: 'varsets',
  attributes: {
    name: Type.String(),
    description: Type.String({ description: 'Empty where there is none.' }),
    global: Type.Boolean({ description: 'Whether it applies to every workspace.' }),
    priority: Type.Boolean({ description: 'Whether its variables override all others.' }),
    'created-at': timestamp(),
    'updated-at': timestamp(),
    'var-count': Type.Integer(),
    'workspace-count': target,
    'project-count': target,
  },
  relationships: {
    organization: relatedOne('organizations'),
    parent: relatedOne(['organizations', 'projects']),
    vars: relatedMany('vars', 'linked'),
    workspaces: relatedMany('workspaces'),
    projects: relatedMany('projects'),
    stacks: relatedMany('stacks'),
  },
  links: ['self'],
});

const linkTo = (setId: string): string => `${API_PREFIX}/varsets/${setId}`;

export const toVariableSetResource = (view: VariableSetView): ResourceOf<typeof VARIABLE_SET> => {
  const { set, organization, workspaceIds, projectIds } = view;
  const { id, ownerProjectId } = set;
  return {
    id,
    type: 'varsets',
    attributes: {
      name: set.name,
      description: set.description,
      global: set.global,
      priority: set.priority,
      'created-at': toTimestamp(set.createdAtMs),
      'updated-at': toTimestamp(set.updatedAtMs),
      'var-count': set.variableIds.length,
      'workspace-count': set.workspaceIds.length,
      'project-count': set.projectIds.length,
    },
    relationships: {
      organization: toOne('organizations', organization.name),
      parent:
        ownerProjectId === null
          ? toOne('organizations', organization.name)
          : toOne('projects', ownerProjectId),
      vars: toMany('vars', set.variableIds, `${linkTo(id)}/relationships/vars`),
      workspaces: toMany('workspaces', workspaceIds),
      projects: toMany('projects', projectIds),
      stacks: toMany('stacks', []),
    },
    links: { self: linkTo(id) },
  };
};

/** A variable of a set. */
export const toSetVariableResource = (variable: SetVariable): ResourceOf<typeof VARIABLE> => {
  const set = linkTo(variable.variableSetId);
  return {
    id: variable.id,
    type: 'vars',
    attributes: toVariableAttributes(variable),
    relationships: { varset: toOne('varsets', variable.variableSetId, set) },
    links: { self: `${set}/relationships/vars/${variable.id}` },
  };
};

/**
 * A variable that reaches a workspace, with the variables it overrides and the one that overrides it there.
 */
export const toEffectiveVariableResource = (
  effective: EffectiveVariable,
): ResourceOf<typeof VARIABLE> => {
  const resource =
    effective.set === null
      ? toVariableResource(effective.variable)
      : toSetVariableResource(effective.variable);
  return {
    ...resource,
    relationships: {
      ...resource.relationships,
      overwriter: toOne('vars', effective.overwriterId),
      overwritten: toMany('vars', effective.overwrittenIds),
    },
  };
};
