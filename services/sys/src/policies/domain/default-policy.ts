/** Names of policies with a special meaning, and the initial text of `default`. */
export const ROOT_POLICY = 'root';
export const DEFAULT_POLICY = 'default';
export const RESPONSE_WRAPPING_POLICY = 'response-wrapping';
const CONTROL_GROUP_POLICY = 'control-group';

/** Policies that exist without a record and can neither be changed nor assigned. */
export const INTERNAL_POLICIES: readonly string[] = [
  RESPONSE_WRAPPING_POLICY,
  CONTROL_GROUP_POLICY,
];

/** The rights of every token that was not created without the `default` policy. */
export const DEFAULT_POLICY_TEXT = `# Look up, renew and revoke oneself.
path "auth/token/lookup-self" { capabilities = ["read"] }
path "auth/token/renew-self" { capabilities = ["update"] }
path "auth/token/revoke-self" { capabilities = ["update"] }

# See where one is signed in, and end it.
path "auth/token/own" { capabilities = ["read"] }
path "auth/token/own/revoke" { capabilities = ["update"] }
path "auth/token/own/revoke-others" { capabilities = ["update"] }

# Ask what one may do.
path "sys/capabilities-self" { capabilities = ["update"] }
path "sys/internal/ui/resultant-acl" { capabilities = ["read"] }

# Read one's own entity.
path "identity/entity/id/{{identity.entity.id}}" { capabilities = ["read"] }
path "identity/entity/name/{{identity.entity.name}}" { capabilities = ["read"] }

# Leases whose id one knows.
path "sys/renew" { capabilities = ["update"] }
path "sys/leases/renew" { capabilities = ["update"] }
path "sys/leases/lookup" { capabilities = ["update"] }

# One's own cubbyhole.
path "cubbyhole/*" { capabilities = ["create", "read", "update", "delete", "list"] }

# Response wrapping.
path "sys/wrapping/wrap" { capabilities = ["update"] }
path "sys/wrapping/lookup" { capabilities = ["update"] }
path "sys/wrapping/unwrap" { capabilities = ["update"] }

# Harmless tools.
path "sys/tools/hash" { capabilities = ["update"] }
path "sys/tools/hash/*" { capabilities = ["update"] }

# Sign in elsewhere as oneself.
path "identity/oidc/provider/+/authorize" { capabilities = ["read", "update"] }
`;

/** The rights of a wrapping token. */
export const RESPONSE_WRAPPING_POLICY_TEXT = `path "cubbyhole/response" { capabilities = ["create", "read"] }
path "sys/wrapping/unwrap" { capabilities = ["update"] }
path "sys/wrapping/rewrap" { capabilities = ["update"] }
`;
