import {
  API_PREFIX,
  choice,
  flags,
  orNull,
  type ResourceOf,
  relatedLink,
  relatedOne,
  resourceSchema,
  timestamp,
  toOne,
  toTimestamp,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import { EXECUTION_MODES } from '../../base/execution/domain/execution.ts';
import type { RetentionPolicy } from '../../base/retention/domain/retention-policy.ts';
import { RETENTION_RELATIONSHIP, toRetention } from '../../base/retention/retention-document.ts';
import { toKebabKeys } from '../../base/validation/attribute-names.ts';
import type { CallerAccess } from '../access/domain/caller-access.ts';
import { decideOrganizationPermissions } from '../access/domain/organization-permissions.ts';
import type { OrganizationAccessResult } from '../access/organization-access-operations.ts';
import type { Organization } from '../model/domain/organization.ts';
import { NO_ORGANIZATION_ACCESS } from '../model/domain/organization-access.ts';
import type { OrganizationSwitch } from '../model/organization-switch-records.ts';
import type { ContributedEntitlements } from '../seams/organization-contributions.ts';

const flag = Type.Boolean();
const never = Type.Boolean({ description: 'Always false: not offered.' });
const minutes = orNull(
  Type.Integer({ description: 'Without effect: sessions end as the site says.' }),
);

export const ORGANIZATION = resourceSchema({
  type: 'organizations',
  description: 'Its id is its name.',
  attributes: {
    name: Type.String(),
    'external-id': Type.String({ description: 'Constant, while the name may change.' }),
    email: Type.String({ format: 'email' }),
    'created-at': timestamp(),
    'default-execution-mode': choice(EXECUTION_MODES, {
      description: 'For workspaces whose project sets none.',
    }),
    'allow-force-delete-workspaces': Type.Boolean({
      description: 'Whether administrators of a workspace may delete it whatever it manages.',
    }),
    'assessments-enforced': Type.Boolean({
      description: 'Whether the health of every workspace is assessed.',
    }),
    'members-leave-with-last-team': Type.Boolean({
      description: 'Whether leaving the last team ends the membership.',
    }),
    'user-tokens-enabled': Type.Boolean({
      description: 'Whether the tokens of users who are no owners give access.',
    }),
    'max-ttl-enabled': Type.Boolean({
      description: 'Whether tokens that were made for longer than its limits are refused.',
    }),
    'is-disabled': Type.Optional(
      Type.Boolean({
        description:
          'Whether requests are refused and runs canceled; shown to site administrators.',
      }),
    ),
    'is-draining': Type.Optional(
      Type.Boolean({
        description:
          'Whether no phase of a run starts, while those under way end; shown to site administrators.',
      }),
    ),
    'aggregated-commit-status-enabled': flag,
    'collaborator-auth-policy': choice(['password', 'two_factor_mandatory'], {
      description: 'Whether members without two-factor authentication have no access.',
    }),
    'cost-estimation-enabled': flag,
    'enforce-hyok': never,
    'fair-run-queuing-enabled': flag,
    'owners-team-saml-role-id': orNull(Type.String()),
    'registry-monorepo-support-enabled': never,
    'saml-enabled': never,
    'send-passing-statuses-for-untriggered-speculative-plans': flag,
    'session-remember': minutes,
    'session-timeout': minutes,
    'speculative-plan-management-enabled': flag,
    'stacks-enabled': never,
    'two-factor-conformant': Type.Boolean({
      description: 'False where the caller has no access for want of two-factor authentication.',
    }),
    permissions: flags(
      [
        'can-access-via-teams',
        'can-create-project',
        'can-create-team',
        'can-create-workspace',
        'can-destroy',
        'can-manage-run-tasks',
        'can-manage-tags',
        'can-manage-users',
        'can-manage-varsets',
        'can-read-audit-trail',
        'can-read-run-tasks',
        'can-traverse',
        'can-update',
        'can-update-agent-pools',
        'can-update-api-token',
        'can-update-oauth',
        'can-update-ssh-keys',
      ],
      { description: 'Permissions of the caller.' },
    ),
  },
  relationships: {
    'default-agent-pool': relatedOne('agent-pools'),
    'default-project': relatedOne('projects', 'linked'),
    'entitlement-set': relatedOne('entitlement-sets', 'linked'),
    'data-retention-policy': RETENTION_RELATIONSHIP,
    'oauth-tokens': relatedLink('oauth-tokens'),
    'authentication-token': relatedLink('authentication-tokens'),
  },
  links: ['self'],
});

const NO_PART: CallerAccess = {
  kind: 'user',
  isOwner: false,
  access: NO_ORGANIZATION_ACCESS,
  teamIds: [],
};

/** @param sitePolicy retention policy that applies when the organization sets none */
export const toOrganizationResource = (
  { organization, caller, lacksSecondFactor }: OrganizationAccessResult,
  sitePolicy: RetentionPolicy | null,
): ResourceOf<typeof ORGANIZATION> => {
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
      'enforce-hyok': false,
      'fair-run-queuing-enabled': true,
      'registry-monorepo-support-enabled': false,
      'saml-enabled': false,
      'stacks-enabled': false,
      'two-factor-conformant': lacksSecondFactor !== true,
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
 * An organization as site administrators see it, who need not have a part in it.
 * @param state undefined while it is on
 */
export const toManagedOrganizationResource = (
  organization: Organization,
  state: OrganizationSwitch | undefined,
  sitePolicy: RetentionPolicy | null,
): ResourceOf<typeof ORGANIZATION> => {
  const resource = toOrganizationResource({ organization, caller: NO_PART }, sitePolicy);
  return {
    ...resource,
    attributes: {
      ...resource.attributes,
      'is-disabled': state === 'off',
      'is-draining': state === 'draining',
    },
  };
};

const limit = orNull(Type.Integer({ description: 'Always null: not limited.' }));

export const ENTITLEMENT_SET = resourceSchema({
  type: 'entitlement-sets',
  attributes: {
    operations: Type.Boolean({
      description: 'Whether something executes runs: an agent or the built-in runner.',
    }),
    agents: flag,
    'audit-logging': flag,
    'configuration-designer': flag,
    'cost-estimation': flag,
    'global-run-tasks': flag,
    'module-tests-generation': flag,
    'policy-enforcement': flag,
    'policy-limit': limit,
    'policy-mandatory-enforcement-limit': limit,
    'policy-set-limit': limit,
    'private-module-registry': flag,
    'private-policy-agents': flag,
    'private-run-tasks': flag,
    'private-vcs': flag,
    'run-task-limit': limit,
    'run-task-mandatory-enforcement-limit': limit,
    'run-task-workspace-limit': limit,
    'run-tasks': flag,
    'self-serve-billing': flag,
    sentinel: flag,
    sso: flag,
    'state-storage': flag,
    teams: flag,
    'usage-reporting': flag,
    'user-limit': limit,
    'vcs-integrations': flag,
    'versioned-policy-set-limit': limit,
  },
  links: ['self'],
});

/**
 * The entitlements of this edition. `operations` is false until a contribution sets it: clients
 * then run everything locally and never wait for an agent that does not exist.
 * @param sso whether people sign in at a provider that says of which groups they are, which `sso-team-id` names
 * @param entitlements the ones that depend on the organization's records
 */
export const toEntitlementSetResource = (
  { organization }: OrganizationAccessResult,
  sso: boolean,
  entitlements: ContributedEntitlements,
): ResourceOf<typeof ENTITLEMENT_SET> => ({
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
    sso,
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
