import { CAPABILITY_BITS, type CapabilitySet, uniteCapabilities } from './capabilities.ts';
import { NO_PARAMETER_RULES, type ParameterRules, uniteParameterRules } from './parameter-rules.ts';
import type { PathPattern } from './path-pattern.ts';

/** The combined rule of one or more policies for a path. */
export interface PolicyRule {
  readonly pattern: PathPattern;
  readonly capabilities: CapabilitySet;
  readonly parameters: ParameterRules;
  /** 0 means no limit. A limit also refuses requests whose response is not wrapped. */
  readonly minWrappingTtlSeconds: number;
  readonly maxWrappingTtlSeconds: number;
  /** Names of the policies the rule comes from, for the audit entry. */
  readonly policies: readonly string[];
}

const smallestNonZero = (a: number, b: number): number =>
  a === 0 || b === 0 ? Math.max(a, b) : Math.min(a, b);

/** Unites the rules of several policies for one path; commutative and associative. */
export const uniteRules = (a: PolicyRule, b: PolicyRule): PolicyRule => {
  const capabilities = uniteCapabilities(a.capabilities, b.capabilities);
  const isDenied = (capabilities & CAPABILITY_BITS.deny) !== 0;
  return {
    pattern: a.pattern,
    capabilities,
    parameters: isDenied ? NO_PARAMETER_RULES : uniteParameterRules(a.parameters, b.parameters),
    minWrappingTtlSeconds: smallestNonZero(a.minWrappingTtlSeconds, b.minWrappingTtlSeconds),
    maxWrappingTtlSeconds: smallestNonZero(a.maxWrappingTtlSeconds, b.maxWrappingTtlSeconds),
    policies: [...new Set([...a.policies, ...b.policies])].sort(),
  };
};
