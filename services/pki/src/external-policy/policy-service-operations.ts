import { type MountScope } from '@keelson/engine';
import type { Store } from '@keelson/storage';
import { settingsBefore } from '../mounts/damaged-settings.ts';
import {
  checkPolicyService,
  NO_POLICY_SERVICE,
  type PolicyService,
} from './domain/policy-service.ts';
import { loadPolicyService, writePolicyService } from './policy-service-records.ts';
import { checkExpression } from './requester-identity.ts';

/**
 * Changes how the policy service is reached.
 * @param nowMs time of the change; earlier observations of health then no longer apply
 * @throws KeelsonError `request.invalid`
 */
export const updatePolicyService = (
  store: Store,
  mount: MountScope,
  change: (before: PolicyService) => PolicyService,
  nowMs: number,
): Promise<{ readonly service: PolicyService; readonly warnings: readonly string[] }> =>
  store.transact(async (tx) => {
    const { before, warnings } = await settingsBefore(
      loadPolicyService(tx, mount),
      NO_POLICY_SERVICE,
    );
    const changed = checkPolicyService(change(before));
    checkExpression('entity_jmespath', changed.entityExpression);
    checkExpression('group_jmespath', changed.groupExpression);
    const updated = { ...changed, updatedAtMs: Math.max(nowMs, before.updatedAtMs + 1) };
    writePolicyService(tx, mount, updated);
    return { service: updated, warnings };
  });
