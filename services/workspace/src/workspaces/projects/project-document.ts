import { API_PREFIX, type Resource, toOne, toTimestamp } from '@keelson/jsonapi';
import { decideEffectiveExecution } from '../../base/execution/domain/execution.ts';
import { toKebabKeys } from '../../base/validation/attribute-names.ts';
import type { OrganizationAccessResult } from '../../identity/access/organization-access-operations.ts';
import type { ProjectPermissions } from '../access/domain/project-permissions.ts';
import type { Project } from '../model/domain/project.ts';

export interface ProjectView extends Pick<OrganizationAccessResult, 'organization'> {
  readonly project: Project;
}

/** The part of a project document that is the same for all readers. */
export const toProjectResource = ({ project, organization }: ProjectView): Resource => {
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
): Resource => {
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
