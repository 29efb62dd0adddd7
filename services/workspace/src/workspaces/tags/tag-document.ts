import { createHash } from 'node:crypto';
import {
  API_PREFIX,
  type ResourceOf,
  relatedOne,
  resourceSchema,
  timestamp,
  toOne,
  toTimestamp,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { OrganizationTag } from '../listing/workspace-listing.ts';
import type { Project } from '../model/domain/project.ts';
import { decideEffectiveBindings, type TagBinding } from '../model/domain/tag-binding.ts';

const VALUE = Type.String({ description: 'Empty for a flat tag.' });

export const TAG_BINDING = resourceSchema({
  type: 'tag-bindings',
  attributes: { key: Type.String(), value: VALUE, 'created-at': timestamp() },
});

export const EFFECTIVE_TAG_BINDING = resourceSchema({
  type: 'effective-tag-bindings',
  attributes: { key: Type.String(), value: VALUE },
  optionalLinks: ['inherited-from'],
});

export const TAG = resourceSchema({
  type: 'tags',
  description: 'A key that workspaces bind without a value.',
  attributes: {
    name: Type.String(),
    'created-at': timestamp(),
    'instance-count': Type.Integer({ description: 'Workspaces that bind it.' }),
  },
  relationships: { organization: relatedOne('organizations') },
});

export const toBindingResource = (binding: TagBinding): ResourceOf<typeof TAG_BINDING> => ({
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
): readonly ResourceOf<typeof EFFECTIVE_TAG_BINDING>[] =>
  decideEffectiveBindings(own, project.tagBindings).map(({ binding, isInherited }) => ({
    // The id is not stored. It is derived, so that the same binding has the same id wherever it is in effect.
    id: createHash('sha256').update(binding.id).digest('hex').slice(0, 16),
    type: 'effective-tag-bindings',
    attributes: { key: binding.key, value: binding.value ?? '' },
    ...(isInherited ? { links: { 'inherited-from': `${API_PREFIX}/projects/${project.id}` } } : {}),
  }));

export const toTagResource = (
  tag: OrganizationTag,
  organizationName: string,
): ResourceOf<typeof TAG> => ({
  id: tag.id,
  type: 'tags',
  attributes: {
    name: tag.name,
    'created-at': toTimestamp(tag.createdAtMs),
    'instance-count': tag.instanceCount,
  },
  relationships: { organization: toOne('organizations', organizationName) },
});
