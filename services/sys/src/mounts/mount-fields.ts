/** Parameters for enabling and tuning a mount, and their mapping to its record. */
import { type Field, type FieldValues, field } from '@keelson/secrets-api';
import type { MountConfig, MountConfigChanges } from './domain/mount.ts';
import type { TuneMount } from './mount-operations.ts';

const VISIBILITIES = ['', 'hidden', 'unauth'];

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
  token_type: 'the only auth method makes tokens of the type that each request asks for',
  user_lockout_config: 'the only auth method has no logins',
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

const CONFIG_FIELDS = {
  default_lease_ttl: leaseTtl('Default lifetime of leases; 0 or "system": the system’s.'),
  max_lease_ttl: leaseTtl('Longest lifetime of leases; 0 or "system": the system’s.'),
  force_no_cache: unsupportedFlag('force_no_cache'),
  listing_visibility: field.string({
    description: '"unauth" shows the mount to anonymous callers of sys/internal/ui/mounts.',
    check: (value) =>
      VISIBILITIES.includes(value) ? undefined : 'listing_visibility must be "hidden" or "unauth"',
  }),
  audit_non_hmac_request_keys: field.commaList({
    description: 'Request keys that audit devices log in clear.',
  }),
  audit_non_hmac_response_keys: field.commaList({
    description: 'Response keys that audit devices log in clear.',
  }),
  passthrough_request_headers: field.commaList({
    description: 'Request headers the engine may see.',
  }),
  allowed_response_headers: field.commaList({
    description: 'Response headers the engine may set.',
  }),
  allowed_managed_keys: field.commaList({
    description: 'Not supported; an empty list is accepted.',
    check: (value) => unsupported('allowed_managed_keys', value.length > 0),
  }),
  delegated_auth_accessors: field.commaList({
    description:
      'Auth mounts the engine may delegate to; recorded with a warning, since config/est says who may enrol.',
  }),
  identity_token_key: unsupportedText('identity_token_key'),
} as const;

/** Fields of `config` when a mount is enabled. */
export const MOUNT_CONFIG_FIELDS = {
  ...CONFIG_FIELDS,
  plugin_version: unsupportedText('plugin_version'),
} as const;

export const ENABLE_FIELDS = {
  path: field.string({ description: 'Where to mount.', required: true }),
  type: field.string({ description: 'Engine type.', default: '' }),
  description: field.string({ description: 'For people.', default: '' }),
  config: field.map({ description: 'Tuning from the start.', default: {} }),
  options: field.stringMap({ description: 'Options of the engine.', default: {} }),
  local: field.bool({ description: 'Not replicated to performance secondaries.', default: false }),
  seal_wrap: unsupportedFlag('seal_wrap'),
  external_entropy_access: unsupportedFlag('external_entropy_access'),
  plugin_name: field.string({ description: 'Older name of type.' }),
  plugin_version: unsupportedText('plugin_version'),
} as const;

export const TUNE_FIELDS = {
  path: ENABLE_FIELDS.path,
  description: field.string({ description: 'For people.' }),
  ...MOUNT_CONFIG_FIELDS,
  token_type: unsupportedText('token_type'),
  options: field.stringMap({ description: 'Options to set; others keep their values.' }),
  user_lockout_config: field.map({
    description: 'Not supported; an empty object is accepted.',
    check: (value) => unsupported('user_lockout_config', Object.keys(value).length > 0),
  }),
} as const;

/** Warns a caller who sets `delegated_auth_accessors`, which has no effect. */
export const mountWarnings = ({
  delegatedAuthAccessors = [],
}: MountConfigChanges): readonly string[] =>
  delegatedAuthAccessors.length === 0
    ? []
    : [
        'delegated_auth_accessors has no effect: the authenticators of config/est say who may enrol, and need no tuning of the mount',
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
});

export const toTuneMount = (values: FieldValues<typeof TUNE_FIELDS>): TuneMount => ({
  description: values.description,
  options: values.options,
  config: toMountConfig(values),
});
