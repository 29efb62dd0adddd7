import { type MountScope, sharedSetting } from '@keelson/engine';
import { type Reads, type Transaction } from '@keelson/storage';
import {
  NO_POLICY_SERVICE,
  type PolicyService,
  policyServiceShape,
} from './domain/policy-service.ts';

const policyServiceRecord = sharedSetting('external-policy', {
  version: 1,
  shape: policyServiceShape,
});

/** Path of the record, for what follows its changes. */
export const policyServicePath = (mount: MountScope): string => policyServiceRecord(mount).path;

export const loadPolicyService = async (reads: Reads, mount: MountScope): Promise<PolicyService> =>
  (await policyServiceRecord(mount).find(reads)) ?? NO_POLICY_SERVICE;

export const writePolicyService = (
  tx: Transaction,
  mount: MountScope,
  service: PolicyService,
): void => policyServiceRecord(mount).write(tx, service);
