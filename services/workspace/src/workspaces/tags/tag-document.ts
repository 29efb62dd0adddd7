import { createHash } from 'node:crypto';
import { API_PREFIX, type Resource, toOne, toTimestamp } from '@keelson/jsonapi';
import type { OrganizationTag } from '../listing/workspace-listing.ts';
import type { Project } from '../model/domain/project.ts';
import { decideEffectiveBindings, type TagBinding } from '../model/domain/tag-binding.ts';

export const toBindingResource = (binding: TagBinding): Resource => ({
  id: binding.id,
  type: 'tag-bindings',
  attributes: {
    key: binding.key,
    value: binding.value ?? '',
    'created-at': toTimestamp(binding.createdAtMs),
  },
});

/** Own and inherited bindings; an inherited one names its source. */
export const toEffectiveBindingResources = (
  own: readonly TagBinding[],
  project: Project,
): readonly Resource[] =>
  decideEffectiveBindings(own, project.tagBindings).map(({ binding, isInherited }) => ({
    // The id is not stored. It is derived, so that the same binding has the same id wherever it is in effect.
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
