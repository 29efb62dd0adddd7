import { type Relationship, relatedOne } from '@keelson/jsonapi';
import { RETENTION_TYPES, type RetentionPolicy } from './domain/retention-policy.ts';

/** The policy that applies to the resource, own or inherited; null where nothing is ever deleted. */
export const RETENTION_RELATIONSHIP = relatedOne(Object.values(RETENTION_TYPES), 'linked');

/** Clients look for a policy only under this resource type. */
export const toRetention = (policy: RetentionPolicy | null, related: string): Relationship => ({
  data: policy && { id: policy.id, type: RETENTION_TYPES[policy.rule.kind] },
  links: { related },
});
