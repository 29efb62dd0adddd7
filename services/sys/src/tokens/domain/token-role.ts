/** Roles: named sets of rules for creating tokens. */

import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const tokenRoleShape = Type.Object({
  name: Type.String(),
  allowedPolicies: Type.Array(Type.String()),
  allowedPoliciesGlob: Type.Array(Type.String()),
  disallowedPolicies: Type.Array(Type.String()),
  disallowedPoliciesGlob: Type.Array(Type.String()),
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

/** A `*` at either end matches any text. */
const matchesGlob = (glob: string, name: string): boolean => {
  const openStart = glob.startsWith('*');
  const openEnd = glob.length > 1 && glob.endsWith('*');
  const core = glob.slice(openStart ? 1 : 0, openEnd ? -1 : undefined);
  if (openStart && openEnd) return name.includes(core);
  if (openStart) return name.endsWith(core);
  return openEnd ? name.startsWith(core) : name === core;
};

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
