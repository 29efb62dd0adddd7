import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { executionShape } from '../../../base/execution/domain/execution.ts';
import { retentionPolicyShape } from '../../../base/retention/domain/retention-policy.ts';
import { tokenLifetimeShape } from './token-lifetime.ts';

export const organizationSettingsShape = Type.Object({
  email: Type.String(),
  /** Whether members without a second factor have no access. */
  collaboratorAuthPolicy: Type.Enum(['password', 'two_factor_mandatory']),
  /** Minutes; null uses the site's default. */
  sessionTimeout: nullable(Type.Number()),
  sessionRemember: nullable(Type.Number()),
  costEstimationEnabled: Type.Boolean(),
  sendPassingStatusesForUntriggeredSpeculativePlans: Type.Boolean(),
  aggregatedCommitStatusEnabled: Type.Boolean(),
  speculativePlanManagementEnabled: Type.Boolean(),
  assessmentsEnforced: Type.Boolean(),
  allowForceDeleteWorkspaces: Type.Boolean(),
  ownersTeamSamlRoleId: nullable(Type.String()),
  /** Whether leaving the last team ends the membership. */
  membersLeaveWithLastTeam: Type.Boolean(),
  /** When false, API tokens of users who are not owners give no access to the organization; sessions do. */
  userTokensEnabled: Type.Boolean(),
  /** Whether the limits of `tokenLifetimes` are in effect. */
  maxTtlEnabled: Type.Boolean(),
});
export type OrganizationSettings = Shaped<typeof organizationSettingsShape>;

export const organizationShape = Type.Object({
  /** `org-…`; constant, while the name may change. */
  id: Type.String(),
  name: Type.String(),
  settings: organizationSettingsShape,
  defaultExecution: executionShape,
  defaultProjectId: Type.String(),
  ownersTeamId: Type.String(),
  retentionPolicy: nullable(retentionPolicyShape),
  /** Absent until somebody changes a limit. */
  tokenLifetimes: Type.Optional(Type.Array(tokenLifetimeShape)),
  createdAtMs: Type.Number(),
});
export type Organization = Shaped<typeof organizationShape>;

export const DEFAULT_ORGANIZATION_SETTINGS: Omit<OrganizationSettings, 'email'> = {
  collaboratorAuthPolicy: 'password',
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
  maxTtlEnabled: false,
};

/** Letters, digits, `-` and `_`, 3 to 90. No document has a limit, and public clients use names of 49 characters. */
export const isOrganizationName = (name: string): boolean => /^[A-Za-z0-9_-]{3,90}$/.test(name);

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
