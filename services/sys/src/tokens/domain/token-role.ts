/** Roles: named sets of rules for creating tokens. */

import { KeelsonError } from '@keelson/errors';
import { matchesGlob } from '@keelson/secrets-api/glob';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const tokenRoleShape = Type.Object({
  name: Type.String(),
  allowedPolicies: Type.Array(Type.String()),
  allowedPoliciesGlob: Type.Array(Type.String()),
  disallowedPolicies: Type.Array(Type.String()),
  disallowedPoliciesGlob: Type.Array(Type.String()),
  /** In lower case; patterns with `*`. */
  allowedEntityAliases: Type.Array(Type.String()),
  orphan: Type.Boolean(),
  renewable: Type.Boolean(),
  periodSeconds: Type.Number(),
  explicitMaxTtlSeconds: Type.Number(),
  pathSuffix: Type.String(),
  boundCidrs: Type.Array(Type.String()),
  noDefaultPolicy: Type.Boolean(),
  numUses: Type.Number(),
  /** `default-…` applies only to requests that specify no type. */
  tokenType: Type.Enum(['service', 'batch', 'default-service', 'default-batch']),
});
export type TokenRole = Shaped<typeof tokenRoleShape>;

const listed = (name: string, names: readonly string[], globs: readonly string[]): boolean =>
  names.includes(name) || globs.some((glob) => matchesGlob(glob, name));

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(' ');

/** True when the role restricts the policies of its tokens; otherwise the rules of the parent apply. */
export const restrictsPolicies = (role: TokenRole): boolean =>
  role.allowedPolicies.length > 0 ||
  role.allowedPoliciesGlob.length > 0 ||
  role.disallowedPolicies.length > 0 ||
  role.disallowedPoliciesGlob.length > 0;

/**
 * Refuses policies that the role does not allow.
 * @throws KeelsonError `request.invalid`
 */
export const checkRolePolicies = (role: TokenRole, policies: readonly string[]): void => {
  const { allowedPolicies, allowedPoliciesGlob, disallowedPolicies, disallowedPoliciesGlob } = role;
  const hasAllowed = allowedPolicies.length > 0 || allowedPoliciesGlob.length > 0;
  // Every token may have `default` unless the role disallows it by name.
  const judged = policies.filter((name) => name !== 'default');
  if (hasAllowed && judged.some((name) => !listed(name, allowedPolicies, allowedPoliciesGlob))) {
    throw new KeelsonError('request.invalid', {
      text: `token policies (${quoted(policies)}) must be subset of the role's allowed policies (${quoted(allowedPolicies)}) or glob policies (${quoted(allowedPoliciesGlob)})`,
    });
  }
  for (const name of policies) {
    if (listed(name, disallowedPolicies, disallowedPoliciesGlob)) {
      throw new KeelsonError('request.invalid', {
        text: `token policy "${name}" is disallowed by this role`,
      });
    }
  }
};

/**
 * Refuses an alias that the role does not allow, whatever the case of its letters.
 * @throws KeelsonError `request.invalid`
 */
export const checkEntityAlias = (role: TokenRole | undefined, alias: string): void => {
  if (role === undefined)
    throw new KeelsonError('request.invalid', {
      text: "'entity_alias' is only allowed in combination with token role",
    });
  if (!role.allowedEntityAliases.some((glob) => matchesGlob(glob, alias.toLowerCase())))
    throw new KeelsonError('request.invalid', {
      text: `invalid 'entity_alias' value: the role "${role.name}" does not allow "${alias}"`,
    });
};
