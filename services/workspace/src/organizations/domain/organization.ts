import type { RetentionPolicy } from '../../retention/domain/retention-policy.ts';
import type { Execution } from '../../workspaces/domain/execution.ts';

export interface OrganizationSettings {
  readonly email: string;
  /** Minutes; null is the site's default. */
  readonly sessionTimeout: number | null;
  readonly sessionRemember: number | null;
  readonly costEstimationEnabled: boolean;
  readonly sendPassingStatusesForUntriggeredSpeculativePlans: boolean;
  readonly aggregatedCommitStatusEnabled: boolean;
  readonly speculativePlanManagementEnabled: boolean;
  readonly assessmentsEnforced: boolean;
  readonly allowForceDeleteWorkspaces: boolean;
  readonly ownersTeamSamlRoleId: string | null;
  /** False: tokens of users who are not owners open nothing of the organization. */
  readonly userTokensEnabled: boolean;
}

export interface Organization {
  /** `org-…`: never changes, while the name may. */
  readonly id: string;
  readonly name: string;
  readonly settings: OrganizationSettings;
  readonly defaultExecution: Execution;
  readonly defaultProjectId: string;
  readonly ownersTeamId: string;
  readonly retentionPolicy: RetentionPolicy | null;
  readonly createdAtMs: number;
}

export const DEFAULT_ORGANIZATION_SETTINGS: Omit<OrganizationSettings, 'email'> = {
  sessionTimeout: null,
  sessionRemember: null,
  costEstimationEnabled: false,
  sendPassingStatusesForUntriggeredSpeculativePlans: false,
  aggregatedCommitStatusEnabled: true,
  speculativePlanManagementEnabled: true,
  assessmentsEnforced: false,
  allowForceDeleteWorkspaces: false,
  ownersTeamSamlRoleId: null,
  userTokensEnabled: true,
};

/** Letters, digits, `-` and `_`, 3 to 40. */
export const isOrganizationName = (name: string): boolean => /^[A-Za-z0-9_-]{3,40}$/.test(name);

export const isEmail = (text: string): boolean => /^[^\s@]{1,64}@[^\s@]{1,190}$/.test(text);
