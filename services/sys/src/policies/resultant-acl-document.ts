import type { Acl } from './domain/acl.ts';
import { toCapabilityNames } from './domain/capabilities.ts';
import type { ParameterLists } from './domain/parameter-rules.ts';
import type { PolicyRule } from './domain/policy-rule.ts';

const lists = (given: ParameterLists | undefined): Record<string, unknown> | undefined =>
  given === undefined || given.size === 0 ? undefined : Object.fromEntries(given);

/** Members without a value are left out by JSON.stringify. */
const ruleDocument = ({ capabilities, parameters, ...limits }: PolicyRule) => ({
  capabilities: toCapabilityNames(capabilities),
  min_wrapping_ttl: limits.minWrappingTtlSeconds || undefined,
  max_wrapping_ttl: limits.maxWrappingTtlSeconds || undefined,
  allowed_parameters: lists(parameters.allowed),
  denied_parameters: lists(parameters.denied),
  required_parameters: parameters.required.size === 0 ? undefined : [...parameters.required],
});

/**
 * What all policies of a token come to, path by path from the root namespace on: those that match
 * exactly, and those that match everything they begin. `+` stays as written.
 */
export const resultantAclDocument = (acl: Acl, namespacePath: string) => {
  const ofKind = (isPrefix: boolean) =>
    Object.fromEntries(
      acl.rules
        .filter(({ pattern }) => pattern.isPrefix === isPrefix)
        .map((rule) => [namespacePath + rule.pattern.stem, ruleDocument(rule)]),
    );
  return { root: false, exact_paths: ofKind(false), glob_paths: ofKind(true) };
};
