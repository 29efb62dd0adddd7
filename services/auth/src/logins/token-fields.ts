/** The `token_…` parameters that roles and users of all methods have. */
import { createNetworks } from '@keelson/edge/networks';
import { type FieldValues, field, type JsonObject } from '@keelson/secrets-api';
import { requireConsistent, TOKEN_TYPES, type TokenSettings } from './domain/token-settings.ts';

const LIST = { maxLength: 16_384 } as const;

/** @returns the text of the error for a list with an element that is no network */
export const networksComplaint =
  (name: string) =>
  (ranges: readonly string[]): string | undefined => {
    try {
      createNetworks(ranges);
      return undefined;
    } catch {
      return `${name} must be a list of IP addresses or networks in CIDR notation`;
    }
  };

export const TOKEN_FIELDS = {
  token_policies: field.commaList({ description: 'Policies of its tokens.', ...LIST }),
  policies: field.commaList({ description: 'Older name of token_policies.', ...LIST }),
  token_ttl: field.durationSeconds({
    description: 'Lifetime of its tokens; 0: that of the mount.',
  }),
  token_max_ttl: field.durationSeconds({
    description: 'Longest lifetime of its tokens, renewals included; 0: that of the mount.',
  }),
  token_explicit_max_ttl: field.durationSeconds({
    description: 'Lifetime that no renewal exceeds; 0: none.',
  }),
  token_period: field.durationSeconds({
    description: 'Each renewal lasts this long, without a maximum; 0: none.',
  }),
  period: field.durationSeconds({ description: 'Older name of token_period.' }),
  token_num_uses: field.integer({
    description: 'Requests that a token serves; 0: no limit.',
    check: (uses) =>
      uses < 0 || uses > 0xffff_ffff
        ? 'token_num_uses must be between 0 and 4294967295'
        : undefined,
  }),
  token_no_default_policy: field.bool({ description: 'Do not add the default policy.' }),
  token_type: field.string({
    description: `One of ${TOKEN_TYPES.join(', ')}.`,
    check: (value) =>
      value === '' || TOKEN_TYPES.some((type) => type === value)
        ? undefined
        : `token_type must be one of ${TOKEN_TYPES.join(', ')}`,
  }),
  token_bound_cidrs: field.commaList({
    description: 'Networks from which its tokens may be made and used.',
    ...LIST,
    check: networksComplaint('token_bound_cidrs'),
  }),
} as const;

/** Older names of these parameters that some methods have. */
export const OLDER_TOKEN_FIELDS = {
  ttl: field.durationSeconds({ description: 'Older name of token_ttl.' }),
  max_ttl: field.durationSeconds({ description: 'Older name of token_max_ttl.' }),
  num_uses: field.integer({
    description: 'Older name of token_num_uses.',
    check: (uses) =>
      uses < 0 || uses > 0xffff_ffff ? 'num_uses must be between 0 and 4294967295' : undefined,
  }),
  bound_cidrs: field.commaList({
    description: 'Older name of token_bound_cidrs.',
    ...LIST,
    check: networksComplaint('bound_cidrs'),
  }),
} as const;

/**
 * The settings after a change: a parameter that is not given stays as it was.
 * @throws KeelsonError `request.invalid` naming the settings that contradict each other
 */
export const changedTokenSettings = (
  before: TokenSettings,
  given: Partial<FieldValues<typeof TOKEN_FIELDS & typeof OLDER_TOKEN_FIELDS>>,
): TokenSettings =>
  requireConsistent({
    policies: [...(given.token_policies ?? given.policies ?? before.policies)].map((name) =>
      name.trim().toLowerCase(),
    ),
    noDefaultPolicy: given.token_no_default_policy ?? before.noDefaultPolicy,
    ttlSeconds: given.token_ttl ?? given.ttl ?? before.ttlSeconds,
    maxTtlSeconds: given.token_max_ttl ?? given.max_ttl ?? before.maxTtlSeconds,
    explicitMaxTtlSeconds: given.token_explicit_max_ttl ?? before.explicitMaxTtlSeconds,
    periodSeconds: given.token_period ?? given.period ?? before.periodSeconds,
    numUses: given.token_num_uses ?? given.num_uses ?? before.numUses,
    tokenType:
      given.token_type === ''
        ? 'default'
        : (TOKEN_TYPES.find((type) => type === given.token_type) ?? before.tokenType),
    boundCidrs: [...(given.token_bound_cidrs ?? given.bound_cidrs ?? before.boundCidrs)],
  });

export const tokenSettingsDocument = (settings: TokenSettings): JsonObject => ({
  token_bound_cidrs: settings.boundCidrs,
  token_explicit_max_ttl: settings.explicitMaxTtlSeconds,
  token_max_ttl: settings.maxTtlSeconds,
  token_no_default_policy: settings.noDefaultPolicy,
  token_num_uses: settings.numUses,
  token_period: settings.periodSeconds,
  token_policies: settings.policies,
  token_ttl: settings.ttlSeconds,
  token_type: settings.tokenType,
});

const OLDER_NAMES = {
  policies: 'token_policies',
  ttl: 'token_ttl',
  max_ttl: 'token_max_ttl',
  period: 'token_period',
  num_uses: 'token_num_uses',
  bound_cidrs: 'token_bound_cidrs',
} as const;

/** Settings under the older names that a method has, as far as they are made: older clients read no others. */
export const olderTokenDocument = (
  settings: TokenSettings,
  names: readonly (keyof typeof OLDER_NAMES)[] = Object.keys(
    OLDER_NAMES,
  ) as (keyof typeof OLDER_NAMES)[],
): JsonObject => {
  const document = tokenSettingsDocument(settings);
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = document[OLDER_NAMES[name]];
      const isMade = Array.isArray(value) ? value.length > 0 : value !== 0;
      return isMade ? [[name, value]] : [];
    }),
  );
};
