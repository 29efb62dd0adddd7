/** Wire shapes of policies. */
import type { Policy, PolicyNames } from './policy-operations.ts';

/** `sys/policies/acl/:name`. */
export const policyDocument = ({ name, text }: Policy) => ({ name, policy: text });

/** `sys/policy/:name`, which clients of the older form read under `rules`. */
export const olderPolicyDocument = (policy: Policy) => ({
  ...policyDocument(policy),
  rules: policy.text,
});

/** `sys/policies/acl`. */
export const policyListDocument = ({ names }: PolicyNames) => ({ keys: names });

/** `sys/policy`, which clients of the older form read under `policies`. */
export const olderPolicyListDocument = (names: PolicyNames['names']) => ({
  keys: names,
  policies: names,
});
