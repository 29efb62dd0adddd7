import { API_PREFIX, type Resource, toOne, toTimestamp } from '@keelson/jsonapi';
import type { RetentionPolicy } from '../../base/retention/domain/retention-policy.ts';
import { toRetention } from '../../base/retention/retention-document.ts';
import { toKebabKeys } from '../../base/validation/attribute-names.ts';
import { decideOrganizationPermissions } from '../access/domain/organization-permissions.ts';
import type { OrganizationAccessResult } from '../access/organization-access-operations.ts';

/** @param sitePolicy retention policy that applies when the organization sets none */
export const toOrganizationResource = (
  { organization, caller }: OrganizationAccessResult,
  sitePolicy: RetentionPolicy | null,
): Resource => {
  const self = `${API_PREFIX}/organizations/${organization.name}`;
  const { mode, agentPoolId } = organization.defaultExecution;
  return {
    id: organization.name,
    type: 'organizations',
    attributes: {
      ...toKebabKeys(organization.settings),
      name: organization.name,
      'external-id': organization.id,
      'created-at': toTimestamp(organization.createdAtMs),
      'default-execution-mode': mode,
      'collaborator-auth-policy': 'password',
      'enforce-hyok': false,
      'fair-run-queuing-enabled': true,
      'max-ttl-enabled': false,
      'registry-monorepo-support-enabled': false,
      'saml-enabled': false,
      'stacks-enabled': false,
      'two-factor-conformant': true,
      permissions: toKebabKeys(decideOrganizationPermissions(caller)),
    },
    relationships: {
      'default-agent-pool': toOne('agent-pools', agentPoolId),
      'default-project': toOne(
        'projects',
        organization.defaultProjectId,
        `${API_PREFIX}/projects/${organization.defaultProjectId}`,
      ),
      'entitlement-set': toOne('entitlement-sets', organization.id, `${self}/entitlement-set`),
      'data-retention-policy': toRetention(
        organization.retentionPolicy ?? sitePolicy,
        `${self}/relationships/data-retention-policy`,
      ),
      'oauth-tokens': { links: { related: `${self}/oauth-tokens` } },
      'authentication-token': { links: { related: `${self}/authentication-token` } },
    },
    links: { self },
  };
};

/**
 * The entitlements of this edition. `operations` is false until a contribution sets it: clients
 * then run everything locally and never wait for an agent that does not exist.
 * @param entitlements the ones that depend on the organization's records
 */
export const toEntitlementSetResource = (
  { organization }: OrganizationAccessResult,
  entitlements: Readonly<Record<string, boolean>>,
): Resource => ({
  id: organization.id,
  type: 'entitlement-sets',
  attributes: {
    agents: true,
    'audit-logging': true,
    'configuration-designer': false,
    'cost-estimation': false,
    'global-run-tasks': false,
    'module-tests-generation': false,
    operations: false,
    'policy-enforcement': false,
    'policy-limit': null,
    'policy-mandatory-enforcement-limit': null,
    'policy-set-limit': null,
    'private-module-registry': false,
    'private-policy-agents': false,
    'private-run-tasks': false,
    'private-vcs': false,
    'run-task-limit': null,
    'run-task-mandatory-enforcement-limit': null,
    'run-task-workspace-limit': null,
    'run-tasks': false,
    'self-serve-billing': false,
    sentinel: false,
    sso: false,
    'state-storage': true,
    teams: true,
    'usage-reporting': false,
    'user-limit': null,
    'vcs-integrations': false,
    'versioned-policy-set-limit': null,
    ...entitlements,
  },
  links: { self: `${API_PREFIX}/organizations/${organization.name}/entitlement-set` },
});
