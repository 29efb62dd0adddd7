import type { Execution } from '../../../base/execution/domain/execution.ts';
import type { RetentionPolicy } from '../../../base/retention/domain/retention-policy.ts';

export interface OrganizationSettings {
  readonly email: string;
  /** Minutes; null uses the site's default. */
  readonly sessionTimeout: number | null;
  readonly sessionRemember: number | null;
  readonly costEstimationEnabled: boolean;
  readonly sendPassingStatusesForUntriggeredSpeculativePlans: boolean;
  readonly aggregatedCommitStatusEnabled: boolean;
  readonly speculativePlanManagementEnabled: boolean;
  readonly assessmentsEnforced: boolean;
  readonly allowForceDeleteWorkspaces: boolean;
  readonly ownersTeamSamlRoleId: string | null;
  /** Whether leaving the last team ends the membership. */
  readonly membersLeaveWithLastTeam: boolean;
  /** When false, the tokens of users who are not owners give no access to the organization. */
  readonly userTokensEnabled: boolean;
}

export interface Organization {
  /** `org-…`; constant, while the name may change. */
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
  membersLeaveWithLastTeam: false,
  userTokensEnabled: true,
};

/** Letters, digits, `-` and `_`, 3 to 40. */
export const isOrganizationName = (name: string): boolean => /^[A-Za-z0-9_-]{3,40}$/.test(name);

/** RFC 5321 §4.1.2 without quoted texts, with letters of any script (RFC 6531). */
const LOCAL_PART =
  /^(?!=\?)[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const DOMAIN =
  /^[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?(?:\.[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?)*$/u;

/**
 * Whether a text is one mail address and nothing else: neither a name with an address in brackets, nor an
 * encoded word, from which a mail program would read another address.
 */
export const isEmail = (text: string): boolean => {
  const at = text.lastIndexOf('@');
  const [local, domain] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  return (
    local.length <= 64 && domain.length <= 190 && LOCAL_PART.test(local) && DOMAIN.test(domain)
  );
};

/** Equal for addresses of one mailbox, as far as their spelling tells. */
export const normalizedEmail = (email: string): string => email.normalize('NFC').toLowerCase();
