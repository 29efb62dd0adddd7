/** Records of sys that a paths filter may keep from a secondary. All other records reach every cluster. */
import type { RecordArea } from '@keelson/replication';
import { MESSAGE_PREFIX } from '../../custom-messages/custom-message-records.ts';
import { BUILT_IN_MOUNT_PREFIX, MOUNT_PREFIX } from '../../mounts/mount-records.ts';
import { namespaceLockRecords, namespaceRecords } from '../../namespaces/namespace-records.ts';
import { policyRecords } from '../../policies/policy-records.ts';
import { roles } from '../../tokens/token-records.ts';

export const SYS_AREAS: readonly RecordArea[] = [
  { below: MOUNT_PREFIX, named: 'mount', segment: 1 },
  ...[namespaceRecords, namespaceLockRecords].map(
    ({ prefix: below }) => ({ below, named: 'namespace', segment: 0, isLast: true }) as const,
  ),
  ...[BUILT_IN_MOUNT_PREFIX, policyRecords.prefix, roles.prefix, MESSAGE_PREFIX].map(
    (below) => ({ below, named: 'namespace', segment: 0 }) as const,
  ),
];
