import { type ResourceOf, resourceSchema, timestamp, toTimestamp } from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { HeldLock } from './held-lock-operations.ts';

/** A lock that the caller holds. The id is that of the workspace. */
export const WORKSPACE_LOCK = resourceSchema({
  type: 'workspace-locks',
  attributes: {
    'workspace-name': Type.String(),
    'organization-name': Type.String(),
    reason: Type.String({ description: 'Empty if none was given.' }),
    'locked-at': timestamp(),
  },
});

export const toLockResource = ({
  access: { workspace, organization },
  lock,
}: HeldLock): ResourceOf<typeof WORKSPACE_LOCK> => ({
  id: workspace.id,
  type: 'workspace-locks',
  attributes: {
    'workspace-name': workspace.name,
    'organization-name': organization.name,
    reason: lock.reason,
    'locked-at': toTimestamp(lock.lockedAtMs),
  },
});
