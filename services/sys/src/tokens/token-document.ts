/** Wire documents of tokens: the auth block and the response of a look-up. */
import type { JsonObject } from '@keelson/secrets-api';
import { SPENT, type TokenEntry, ttlSeconds } from './domain/token-entry.ts';
import type { TokenRole } from './domain/token-role.ts';

const toSeconds = (epochMs: number): number => Math.floor(epochMs / 1000);
const toTimestamp = (epochMs: number): string => new Date(epochMs).toISOString();

/** The policies of a token with those of its entity; undefined if the entity is not known here. */
type Policies =
  | { readonly policies: readonly string[]; readonly identityPolicies: readonly string[] }
  | undefined;

/** `auth` of a response that creates or renews a token; `token` is "" if the caller did not send it. */
export const toAuthBlock = (
  token: string,
  entry: TokenEntry,
  rights: Policies,
  nowMs: number,
): JsonObject => ({
  client_token: token,
  accessor: entry.accessor,
  policies: rights?.policies ?? entry.policies,
  token_policies: entry.policies,
  identity_policies: rights?.identityPolicies.length ? rights.identityPolicies : null,
  metadata: Object.keys(entry.meta).length === 0 ? null : entry.meta,
  lease_duration: ttlSeconds(entry, nowMs),
  renewable: entry.renewable,
  entity_id: entry.entity?.id ?? '',
  token_type: entry.type,
  orphan: entry.parent === undefined,
  mfa_requirement: null,
  num_uses: entry.usesLeft,
});

/** `data` of a look-up. `id` is "" when the request named the token by its accessor. */
export const toLookupData = (
  id: string,
  entry: TokenEntry,
  rights: Policies,
  nowMs: number,
): JsonObject => ({
  accessor: entry.accessor,
  creation_time: toSeconds(entry.createdAtMs),
  creation_ttl: entry.creationTtlSeconds,
  display_name: entry.displayName,
  entity_id: entry.entity?.id ?? '',
  expire_time: entry.expiresAtMs === undefined ? null : toTimestamp(entry.expiresAtMs),
  explicit_max_ttl: entry.explicitMaxTtlSeconds,
  id,
  ...(rights?.identityPolicies.length && { identity_policies: rights.identityPolicies }),
  issue_time: toTimestamp(entry.createdAtMs),
  ...(entry.lastRenewalMs !== undefined && {
    last_renewal: toTimestamp(entry.lastRenewalMs),
    last_renewal_time: toSeconds(entry.lastRenewalMs),
  }),
  meta: Object.keys(entry.meta).length === 0 ? null : entry.meta,
  num_uses: entry.usesLeft === SPENT ? 0 : entry.usesLeft,
  orphan: entry.parent === undefined,
  path: entry.path,
  ...(entry.periodSeconds > 0 && { period: entry.periodSeconds }),
  policies: entry.policies,
  renewable: entry.renewable,
  ...(entry.role !== '' && { role: entry.role }),
  ttl: ttlSeconds(entry, nowMs),
  type: entry.type,
  ...(entry.namespace.path !== '' && { namespace_path: entry.namespace.path }),
  ...(entry.boundCidrs.length > 0 && { bound_cidrs: entry.boundCidrs }),
});

export const toRoleData = (role: TokenRole): JsonObject => ({
  allowed_entity_aliases: role.allowedEntityAliases,
  allowed_policies: role.allowedPolicies,
  allowed_policies_glob: role.allowedPoliciesGlob,
  disallowed_policies: role.disallowedPolicies,
  disallowed_policies_glob: role.disallowedPoliciesGlob,
  explicit_max_ttl: role.explicitMaxTtlSeconds,
  name: role.name,
  orphan: role.orphan,
  path_suffix: role.pathSuffix,
  period: role.periodSeconds,
  renewable: role.renewable,
  token_bound_cidrs: role.boundCidrs,
  token_explicit_max_ttl: role.explicitMaxTtlSeconds,
  token_no_default_policy: role.noDefaultPolicy,
  token_num_uses: role.numUses,
  token_period: role.periodSeconds,
  token_type: role.tokenType,
});
