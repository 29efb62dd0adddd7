import { jsonRecords, type Reads, type RecordCollection } from '@keelson/storage';
import { type MountScope, sharedPrefix } from '../mounts/mount-records.ts';
import { NO_POLICY_SERVICE, type PolicyService } from './domain/policy-service.ts';

const KEY = 'external-policy';

const policyServiceRecords = (mount: MountScope): RecordCollection<PolicyService> =>
  jsonRecords(`${sharedPrefix(mount)}config/`);

/** Path of the record, for what follows its changes. */
export const policyServicePath = (mount: MountScope): string =>
  `${policyServiceRecords(mount).prefix}${KEY}`;

export const loadPolicyService = async (reads: Reads, mount: MountScope): Promise<PolicyService> =>
  (await policyServiceRecords(mount).find(reads, KEY)) ?? NO_POLICY_SERVICE;

export const writePolicyService = (
  tx: Parameters<RecordCollection<PolicyService>['write']>[0],
  mount: MountScope,
  service: PolicyService,
): void => policyServiceRecords(mount).write(tx, KEY, service);
