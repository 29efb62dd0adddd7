import {
  API_PREFIX,
  choice,
  flags,
  orNull,
  type ResourceOf,
  relatedLink,
  relatedOne,
  resourceSchema,
  timestamp,
  toOne,
  toTimestamp,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import {
  decideEffectiveExecution,
  EXECUTION_MODES,
} from '../../base/execution/domain/execution.ts';
import { toKebabKeys } from '../../base/validation/attribute-names.ts';
import type { OrganizationAccessResult } from '../../identity/access/organization-access-operations.ts';
import type { ProjectPermissions } from '../access/domain/project-permissions.ts';
import type { Project } from '../model/domain/project.ts';

export interface ProjectView extends Pick<OrganizationAccessResult, 'organization'> {
  readonly project: Project;
}

const own = Type.Boolean({ description: 'False: inherited from the organization.' });

export const PROJECT = resourceSchema({
  type: 'projects',
  attributes: {
    name: Type.String(),
    description: Type.String({ description: 'Empty where there is none.' }),
    'auto-destroy-activity-duration': orNull(
      Type.String({ description: 'For workspaces that set none.' }),
    ),
    'created-at': timestamp(),
    'default-execution-mode': choice(EXECUTION_MODES, { description: 'Own or inherited.' }),
    'is-unified': Type.Boolean({ description: 'Always false.' }),
    'setting-overwrites': Type.Object({
      'default-execution-mode': own,
      'default-agent-pool': own,
    }),
    permissions: Type.Optional(
      flags(
        [
          'can-create-workspace',
          'can-destroy',
          'can-manage-teams',
          'can-manage-varsets',
          'can-move-workspace',
          'can-read',
          'can-read-teams',
          'can-read-varsets',
          'can-update',
        ],
        { description: 'Permissions of the caller; absent where the project is included.' },
      ),
    ),
    'workspace-count': Type.Optional(
      Type.Integer({ description: 'Absent where the project is included.' }),
    ),
  },
  relationships: {
    organization: relatedOne('organizations'),
    'default-agent-pool': relatedOne('agent-pools'),
    'tag-bindings': relatedLink('tag-bindings'),
    'effective-tag-bindings': relatedLink('effective-tag-bindings'),
  },
  links: ['self'],
});

/** The part of a project document that is the same for all readers. */
export const toProjectResource = ({
  project,
  organization,
}: ProjectView): ResourceOf<typeof PROJECT> => {
  const self = `${API_PREFIX}/projects/${project.id}`;
  const execution = decideEffectiveExecution(
    null,
    project.ownExecution,
    organization.defaultExecution,
  );
  const hasOwnExecution = project.ownExecution !== null;
  return {
    id: project.id,
    type: 'projects',
    attributes: {
      name: project.name,
      description: project.description,
      'auto-destroy-activity-duration': project.autoDestroyActivityDuration,
      'created-at': toTimestamp(project.createdAtMs),
      'default-execution-mode': execution.mode,
      'is-unified': false,
      'setting-overwrites': {
        'default-execution-mode': hasOwnExecution,
        'default-agent-pool': hasOwnExecution,
      },
    },
    relationships: {
      organization: toOne('organizations', organization.name),
      'default-agent-pool': toOne('agent-pools', execution.agentPoolId),
      'tag-bindings': { links: { related: `${self}/tag-bindings` } },
      'effective-tag-bindings': { links: { related: `${self}/effective-tag-bindings` } },
    },
    links: { self },
  };
};

/** The project document, including the parts that depend on the reader. */
export const toOwnProjectResource = (
  view: ProjectView,
  permissions: ProjectPermissions,
  workspaceCount: number,
): ResourceOf<typeof PROJECT> => {
  const resource = toProjectResource(view);
  return {
    ...resource,
    attributes: {
      ...resource.attributes,
      permissions: toKebabKeys(permissions),
      'workspace-count': workspaceCount,
    },
  };
};
