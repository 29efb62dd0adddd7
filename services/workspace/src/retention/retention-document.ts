import type { Relationship } from '@keelson/jsonapi';
import { RETENTION_TYPES, type RetentionPolicy } from './domain/retention-policy.ts';

/** Clients read the policy only when they find its type here. */
export const toRetention = (policy: RetentionPolicy | null, related: string): Relationship => ({
  data: policy && { id: policy.id, type: RETENTION_TYPES[policy.rule.kind] },
  links: { related },
});
