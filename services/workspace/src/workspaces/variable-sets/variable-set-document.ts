import { API_PREFIX, type Resource, toMany, toOne, toTimestamp } from '@keelson/jsonapi';
import type { Organization } from '../../identity/model/domain/organization.ts';
import { toVariableAttributes, toVariableResource } from '../variables/variable-document.ts';
import type { EffectiveVariable } from './domain/precedence.ts';
import type { SetVariable, VariableSet } from './domain/variable-set.ts';

export interface VariableSetView {
  readonly set: VariableSet;
  readonly organization: Organization;
  /** Workspaces and projects that the set is applied to and the reader may see. */
  readonly workspaceIds: readonly string[];
  readonly projectIds: readonly string[];
}

const linkTo = (setId: string): string => `${API_PREFIX}/varsets/${setId}`;

export const toVariableSetResource = (view: VariableSetView): Resource => {
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
export const toSetVariableResource = (variable: SetVariable): Resource => {
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
export const toEffectiveVariableResource = (effective: EffectiveVariable): Resource => {
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
