import type { LeaseQuota } from './domain/lease-quota.ts';
import type { QuotaSettings, RateQuota } from './domain/rate-quota.ts';
import type { PlacedQuota } from './quota-operations.ts';

/** Durations are in seconds. */
export const quotaDocument = ({
  name,
  path,
  rate,
  intervalSeconds,
  blockSeconds,
  isInheritable,
  role = '',
}: PlacedQuota<RateQuota>) => ({
  type: 'rate-limit',
  name,
  path,
  rate,
  interval: intervalSeconds,
  block_interval: blockSeconds,
  inheritable: isInheritable,
  role,
});

export const quotaSettingsDocument = ({
  exemptPaths,
  auditsRefusals,
  statesLimits,
}: QuotaSettings) => ({
  rate_limit_exempt_paths: exemptPaths,
  enable_rate_limit_audit_logging: auditsRefusals,
  enable_rate_limit_response_headers: statesLimits,
});

/** @param counter leases that the quota counts now */
export const leaseQuotaDocument = (
  { name, path, maxLeases, isInheritable, role = '' }: PlacedQuota<LeaseQuota>,
  counter: number,
) => ({
  type: 'lease-count',
  name,
  path,
  max_leases: maxLeases,
  counter,
  inheritable: isInheritable,
  role,
});
