/** Parameters for enabling and tuning a mount, and their mapping to its record. */
import { type Field, type FieldValues, field } from '@keelson/secrets-api';
import { type MountConfig, type MountConfigChanges, mountConfigShape } from './domain/mount.ts';
import type { TuneMount } from './mount-operations.ts';

const VISIBILITIES = ['', 'hidden', 'unauth'];
const TOKEN_TYPES = mountConfigShape.properties.tokenType.enum;

/**
 * A lifetime in seconds. The vendor's SDK cannot omit a lifetime: it sends empty text for one that stays
 * unchanged, and `system` for one that returns to the system's value.
 */
const leaseTtl = (description: string): Field<number | undefined> => {
  const seconds = field.durationSeconds({ description });
  return {
    ...seconds,
    read: (name, raw) => {
      if (raw === '') return undefined;
      return raw === 'system' ? 0 : seconds.read(name, raw);
    },
  };
};

/** Vendor settings that have no effect here: refused, so that nobody relies on them. */
const UNSUPPORTED = {
  force_no_cache: 'records are kept in memory for all mounts alike',
  seal_wrap: 'the barrier encrypts every value, and no second seal wraps it',
  external_entropy_access: 'random numbers come from the operating system alone',
  allowed_managed_keys: 'there are no managed keys',
  identity_token_key: 'there are no identity tokens',
  plugin_version: 'engines are part of the build and have no versions of their own',
} as const;

const unsupported = (name: keyof typeof UNSUPPORTED, isAsked = true): string | undefined =>
  isAsked ? `${name} is not supported: ${UNSUPPORTED[name]}` : undefined;

const unsupportedFlag = (name: keyof typeof UNSUPPORTED) =>
  field.bool({
    description: 'Not supported; false is accepted.',
    check: (value) => unsupported(name, value),
  });

const unsupportedText = (name: keyof typeof UNSUPPORTED) =>
  field.string({
    description: 'Not supported; empty text is accepted.',
    check: (value) => unsupported(name, value !== ''),
  });

const MAX_THRESHOLD = 1_000_000;
const MAX_LOCKOUT_SECONDS = 366 * 24 * 3600;

const lockoutTime = (name: string, description: string) =>
  field.durationSeconds({
    description,
    check: (seconds) =>
      seconds > MAX_LOCKOUT_SECONDS ? `${name} has at most 366 days` : undefined,
  });

/** A list that each request to the mount is compared with. */
const listOf = (description: string) => field.commaList({ description, maxLength: 16_384 });

const CONFIG_FIELDS = {
  default_lease_ttl: leaseTtl('Default lifetime of leases; 0 or "system": the system’s.'),
  max_lease_ttl: leaseTtl('Longest lifetime of leases; 0 or "system": the system’s.'),
  force_no_cache: unsupportedFlag('force_no_cache'),
  listing_visibility: field.string({
    description: '"unauth" shows the mount to anonymous callers of sys/internal/ui/mounts.',
    check: (value) =>
      VISIBILITIES.includes(value) ? undefined : 'listing_visibility must be "hidden" or "unauth"',
  }),
  audit_non_hmac_request_keys: listOf('Request keys that audit devices log in clear.'),
  audit_non_hmac_response_keys: listOf('Response keys that audit devices log in clear.'),
  passthrough_request_headers: listOf('Request headers the engine may see.'),
  allowed_response_headers: listOf('Response headers the engine may set.'),
  allowed_managed_keys: field.commaList({
    description: 'Not supported; an empty list is accepted.',
    check: (value) => unsupported('allowed_managed_keys', value.length > 0),
  }),
  delegated_auth_accessors: listOf(
    'Auth mounts the engine may delegate to; recorded with a warning, since config/est says who may enrol.',
  ),
  identity_token_key: unsupportedText('identity_token_key'),
  token_type: field.string({
    description:
      'Type of the tokens of logins: "service" or "batch", or one of them with "default-" before it, which a role may replace.',
    check: (value) =>
      value === '' || TOKEN_TYPES.some((type) => type === value)
        ? undefined
        : `token_type must be one of ${TOKEN_TYPES.join(', ')}`,
  }),
  user_lockout_config: field.objectOf({
    description: 'When failed logins lock a user of userpass, ldap or approle.',
    members: {
      lockout_threshold: field.integer({
        description: 'Failed logins in a row that lock a user; 0: 5.',
        check: (count) =>
          count < 0 || count > MAX_THRESHOLD
            ? `lockout_threshold must be between 0 and ${MAX_THRESHOLD}`
            : undefined,
      }),
      lockout_duration: lockoutTime(
        'lockout_duration',
        'Time for which a user is locked; 0: 15 minutes.',
      ),
      lockout_counter_reset_duration: lockoutTime(
        'lockout_counter_reset_duration',
        'Time without a failed login after which the failures are forgotten; 0: 15 minutes.',
      ),
      lockout_disable: field.bool({ description: 'Whether no user is ever locked.' }),
    },
  }),
} as const;

const MOUNT_CONFIG_FIELDS = {
  ...CONFIG_FIELDS,
  plugin_version: unsupportedText('plugin_version'),
} as const;

const DESCRIPTION = { description: 'For people: returned only.', maxLength: 4096 } as const;
/** Clients that have one type for enabling and tuning send it here. */
const DESCRIPTION_IN_CONFIG = field.string({
  description: 'Another place for the description of the mount.',
  maxLength: DESCRIPTION.maxLength,
});
const OPTIONS = {
  description: 'Options of the engine; recorded with a warning, since no engine has any.',
  maxLength: 16_384,
} as const;

export const ENABLE_FIELDS = {
  path: field.string({ description: 'Path of the mount.', required: true }),
  type: field.string({ description: 'Engine type.', default: '', maxLength: 128 }),
  description: field.string({ ...DESCRIPTION, default: '' }),
  config: field.objectOf({
    description: 'Tuning from the start.',
    members: { ...MOUNT_CONFIG_FIELDS, description: DESCRIPTION_IN_CONFIG },
  }),
  options: field.stringMap({ ...OPTIONS, default: {} }),
  local: field.bool({ description: 'Not replicated to performance secondaries.', default: false }),
  seal_wrap: unsupportedFlag('seal_wrap'),
  external_entropy_access: unsupportedFlag('external_entropy_access'),
  plugin_name: field.string({ description: 'Older name of type.', maxLength: 128 }),
  plugin_version: unsupportedText('plugin_version'),
} as const;

export const TUNE_FIELDS = {
  path: ENABLE_FIELDS.path,
  description: field.string(DESCRIPTION),
  ...MOUNT_CONFIG_FIELDS,
  options: field.stringMap(OPTIONS),
} as const;

/** Warns a caller of settings that are recorded, but have no effect. */
export const mountWarnings = ({
  options = {},
  config: { delegatedAuthAccessors = [] },
}: Pick<TuneMount, 'options' | 'config'>): readonly string[] => [
  ...(Object.keys(options).length === 0 ? [] : ['options has no effect: no engine has options']),
  ...(delegatedAuthAccessors.length === 0
    ? []
    : [
        'delegated_auth_accessors has no effect: the authenticators of config/est say who may enrol, and need no tuning of the mount',
      ]),
];

/** Undefined when no setting was given. */
export const toMountConfig = (values: FieldValues<typeof CONFIG_FIELDS>): MountConfigChanges => ({
  defaultLeaseTtlSeconds: values.default_lease_ttl,
  maxLeaseTtlSeconds: values.max_lease_ttl,
  listingVisibility: values.listing_visibility as MountConfig['listingVisibility'] | undefined,
  auditNonHmacRequestKeys: values.audit_non_hmac_request_keys,
  auditNonHmacResponseKeys: values.audit_non_hmac_response_keys,
  passthroughRequestHeaders: values.passthrough_request_headers,
  allowedResponseHeaders: values.allowed_response_headers,
  delegatedAuthAccessors: values.delegated_auth_accessors,
  tokenType: TOKEN_TYPES.find((type) => type === values.token_type),
  userLockoutThreshold: values.user_lockout_config.lockout_threshold,
  userLockoutDurationSeconds: values.user_lockout_config.lockout_duration,
  userLockoutCounterResetSeconds: values.user_lockout_config.lockout_counter_reset_duration,
  userLockoutDisabled: values.user_lockout_config.lockout_disable,
});

export const toTuneMount = (values: FieldValues<typeof TUNE_FIELDS>): TuneMount => ({
  description: values.description,
  options: values.options,
  config: toMountConfig(values),
});
