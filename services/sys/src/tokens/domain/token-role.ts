/** Roles: named sets of rules for creating tokens. */
import { KeelsonError } from '@keelson/errors';

export interface TokenRole {
  readonly name: string;
  readonly allowedPolicies: readonly string[];
  readonly allowedPoliciesGlob: readonly string[];
  readonly disallowedPolicies: readonly string[];
  readonly disallowedPoliciesGlob: readonly string[];
  readonly orphan: boolean;
  readonly renewable: boolean;
  readonly periodSeconds: number;
  readonly explicitMaxTtlSeconds: number;
  readonly pathSuffix: string;
  readonly boundCidrs: readonly string[];
  readonly noDefaultPolicy: boolean;
  readonly numUses: number;
  /** `default-…` applies only to requests that specify no type. */
  readonly tokenType: 'service' | 'batch' | 'default-service' | 'default-batch';
}

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
