import type { Acl } from './domain/acl.ts';
import { toCapabilityNames } from './domain/capabilities.ts';
import type { ParameterLists } from './domain/parameter-rules.ts';
import type { PolicyRule } from './domain/policy-rule.ts';

const lists = (given: ParameterLists | undefined): Record<string, unknown> | undefined =>
  given === undefined || given.size === 0 ? undefined : Object.fromEntries(given);

/** JSON.stringify omits members without a value. */
const ruleDocument = ({ capabilities, parameters, ...limits }: PolicyRule) => ({
  capabilities: toCapabilityNames(capabilities),
  min_wrapping_ttl: limits.minWrappingTtlSeconds || undefined,
  max_wrapping_ttl: limits.maxWrappingTtlSeconds || undefined,
  allowed_parameters: lists(parameters.allowed),
  denied_parameters: lists(parameters.denied),
  required_parameters: parameters.required.size === 0 ? undefined : [...parameters.required],
});

/**
 * The combined rights of all policies of a token, by path relative to the root namespace, as exact paths and
 * as prefixes. `+` stays as written.
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
