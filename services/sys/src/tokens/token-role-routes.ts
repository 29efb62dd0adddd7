/** `auth/token/roles`. */

import type { Route } from '@keelson/edge';
import { createNetworks } from '@keelson/edge/networks';
import { KeelsonError } from '@keelson/errors';
import { field, propertiesOf, secretsRoutes } from '@keelson/secrets-api';
import { normalizePolicies } from './domain/token-creation.ts';
import type { TokenRole } from './domain/token-role.ts';
import type { TokenContext } from './token-context.ts';
import { toRoleData } from './token-document.ts';
import { deleteRole, findRole, listRoles, putRole } from './token-role-operations.ts';

const TAG = 'tokens';

const FIELDS = {
  name: field.string({ description: 'Name of the role.', default: '', maxLength: 256 }),
  allowed_policies: field.commaList({
    description: 'Policies its tokens may have.',
    maxLength: 16_384,
  }),
  allowed_policies_glob: field.commaList({
    description: 'The same with globs.',
    maxLength: 16_384,
  }),
  disallowed_policies: field.commaList({
    description: 'Policies its tokens may not have.',
    maxLength: 16_384,
  }),
  disallowed_policies_glob: field.commaList({
    description: 'The same with globs.',
    maxLength: 16_384,
  }),
  orphan: field.bool({ description: 'Its tokens have no parent.' }),
  renewable: field.bool({ description: 'Its tokens can be renewed (default true).' }),
  period: field.durationSeconds({ description: 'Older name of token_period.' }),
  token_period: field.durationSeconds({ description: 'Period of its tokens.' }),
  explicit_max_ttl: field.durationSeconds({ description: 'Older name of token_explicit_max_ttl.' }),
  token_explicit_max_ttl: field.durationSeconds({ description: 'Absolute maximum.' }),
  path_suffix: field.string({
    description: 'Added to the path its tokens show.',
    maxLength: 256,
  }),
  bound_cidrs: field.commaList({
    description: 'Older name of token_bound_cidrs.',
    maxLength: 16_384,
  }),
  token_bound_cidrs: field.commaList({
    description: 'Networks from which its tokens may be used.',
    maxLength: 16_384,
  }),
  token_no_default_policy: field.bool({ description: 'Do not add the default policy.' }),
  token_num_uses: field.integer({
    description: 'Requests its tokens serve; 0: no limit.',
    check: (uses) => (uses < 0 ? 'token_num_uses cannot be negative' : undefined),
  }),
  token_type: field.string({
    description: 'service, batch, default-service or default-batch.',
    check: (value) =>
      TOKEN_TYPES.has(value) ? undefined : `invalid 'token_type' value "${value}"`,
  }),
  allowed_entity_aliases: field.commaList({
    description:
      'Aliases at the mount auth/token/ whose entities its tokens may have, whatever the case of their letters; * is any text.',
    maxLength: 16_384,
  }),
} as const;

const TOKEN_TYPES = new Set([
  'service',
  'batch',
  'default-service',
  'default-batch',
  'default',
  '',
]);

const toTokenType = (given: string): TokenRole['tokenType'] =>
  given === 'service' || given === 'batch' || given === 'default-batch' ? given : 'default-service';

/** In lower case, without duplicates. */
const toAliasRules = (given: readonly string[]): string[] => [
  ...new Set(given.map((one) => one.toLowerCase())),
];

const NEW_ROLE: Omit<TokenRole, 'name'> = {
  allowedPolicies: [],
  allowedPoliciesGlob: [],
  disallowedPolicies: [],
  disallowedPoliciesGlob: [],
  allowedEntityAliases: [],
  orphan: false,
  renewable: true,
  periodSeconds: 0,
  explicitMaxTtlSeconds: 0,
  pathSuffix: '',
  boundCidrs: [],
  noDefaultPolicy: false,
  numUses: 0,
  tokenType: 'default-service',
};

/** @throws KeelsonError `request.invalid` naming the inconsistent settings */
const requireConsistent = (role: TokenRole): TokenRole => {
  if (role.tokenType === 'batch') {
    if (!role.orphan && role.renewable) {
      throw new KeelsonError('request.invalid', {
        text: "'token_type' cannot be 'batch' when role is set to generate renewable tokens",
      });
    }
    const limit = [
      role.periodSeconds > 0 && 'periodic tokens',
      role.explicitMaxTtlSeconds > 0 && 'tokens with an explicit max TTL',
      role.numUses > 0 && 'tokens with limited use count',
    ].find((text) => text !== false);
    if (limit !== undefined)
      throw new KeelsonError('request.invalid', {
        text: `'token_type' cannot be 'batch' when role is set to generate ${limit}`,
      });
  }
  if (!/^[\w.-]*$/.test(role.pathSuffix)) {
    throw new KeelsonError('request.invalid', {
      text: 'given role path suffix contains invalid characters; must match ^\\w[\\w-.]+\\w$',
    });
  }
  createNetworks(role.boundCidrs);
  return role;
};

export const tokenRoleRoutes = (context: TokenContext): Route[] => [
  ...secretsRoutes({
    path: '/auth/token/roles',
    tag: TAG,
    fields: {},
    operations: {
      list: {
        summary: 'List roles',
        handle: async ({ namespace }) => ({
          data: { keys: await listRoles(context, namespace.id) },
        }),
      },
    },
  }),
  ...secretsRoutes({
    path: '/auth/token/roles/:name',
    tag: TAG,
    fields: FIELDS,
    hasSettings: true,
    operations: {
      read: {
        summary: 'Read a role',
        answer: { data: propertiesOf(FIELDS) },
        handle: async ({ namespace, fields }) => {
          const role = await findRole(context, namespace.id, fields.name);
          return role && { data: toRoleData(role) };
        },
      },
      update: {
        summary: 'Create or change a role',
        handle: async ({ namespace, fields }) => {
          await putRole(
            context,
            namespace.id,
            fields.name,
            (current = { ...NEW_ROLE, name: fields.name }) =>
              requireConsistent({
                name: fields.name,
                allowedPolicies: fields.allowed_policies
                  ? normalizePolicies(fields.allowed_policies)
                  : current.allowedPolicies,
                allowedPoliciesGlob: fields.allowed_policies_glob ?? current.allowedPoliciesGlob,
                disallowedPolicies: fields.disallowed_policies
                  ? normalizePolicies(fields.disallowed_policies)
                  : current.disallowedPolicies,
                disallowedPoliciesGlob:
                  fields.disallowed_policies_glob ?? current.disallowedPoliciesGlob,
                allowedEntityAliases: fields.allowed_entity_aliases
                  ? toAliasRules(fields.allowed_entity_aliases)
                  : current.allowedEntityAliases,
                orphan: fields.orphan ?? current.orphan,
                renewable: fields.renewable ?? current.renewable,
                periodSeconds: fields.token_period ?? fields.period ?? current.periodSeconds,
                explicitMaxTtlSeconds:
                  fields.token_explicit_max_ttl ??
                  fields.explicit_max_ttl ??
                  current.explicitMaxTtlSeconds,
                pathSuffix: fields.path_suffix ?? current.pathSuffix,
                boundCidrs: fields.token_bound_cidrs ?? fields.bound_cidrs ?? current.boundCidrs,
                noDefaultPolicy: fields.token_no_default_policy ?? current.noDefaultPolicy,
                numUses: fields.token_num_uses ?? current.numUses,
                tokenType:
                  fields.token_type === undefined
                    ? current.tokenType
                    : toTokenType(fields.token_type),
              }),
          );
          return undefined;
        },
      },
      delete: {
        summary: 'Delete a role',
        handle: async ({ namespace, fields }) => {
          await deleteRole(context, namespace.id, fields.name);
          return undefined;
        },
      },
    },
  }),
];
