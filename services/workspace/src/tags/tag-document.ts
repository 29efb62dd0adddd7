import { createHash } from 'node:crypto';
import { API_PREFIX, type Resource, toOne, toTimestamp } from '@keelson/jsonapi';
import type { Project } from '../projects/domain/project.ts';
import type { OrganizationTag } from '../workspaces/workspace-listing.ts';
import { decideEffectiveBindings, type TagBinding } from './domain/tag-binding.ts';

export const toBindingResource = (binding: TagBinding): Resource => ({
  id: binding.id,
  type: 'tag-bindings',
  attributes: {
    key: binding.key,
    value: binding.value ?? '',
    'created-at': toTimestamp(binding.createdAtMs),
  },
});

/** Own and inherited bindings; the inherited ones name where they come from. */
export const toEffectiveBindingResources = (
  own: readonly TagBinding[],
  project: Project,
): readonly Resource[] =>
  decideEffectiveBindings(own, project.tagBindings).map(({ binding, isInherited }) => ({
    // Not a stored thing: the same binding has the same id wherever it takes effect.
    id: createHash('sha256').update(binding.id).digest('hex').slice(0, 16),
    type: 'effective-tag-bindings',
    attributes: { key: binding.key, value: binding.value ?? '' },
    ...(isInherited ? { links: { 'inherited-from': `${API_PREFIX}/projects/${project.id}` } } : {}),
  }));

export const toTagResource = (tag: OrganizationTag, organizationName: string): Resource => ({
  id: tag.id,
  type: 'tags',
  attributes: {
    name: tag.name,
    'created-at': toTimestamp(tag.createdAtMs),
    'instance-count': tag.instanceCount,
  },
  relationships: { organization: toOne('organizations', organizationName) },
});
