import type { Relationship } from '@keelson/jsonapi';
import { RETENTION_TYPES, type RetentionPolicy } from './domain/retention-policy.ts';

/** Clients look for a policy only under this resource type. */
export const toRetention = (policy: RetentionPolicy | null, related: string): Relationship => ({
  data: policy && { id: policy.id, type: RETENTION_TYPES[policy.rule.kind] },
  links: { related },
});
