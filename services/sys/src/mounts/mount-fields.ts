/** Parameters of enabling and tuning a mount, and what they mean for its record. */
import { type Field, type FieldValues, field } from '@keelson/secrets-api';
import type { MountConfig, MountConfigChanges } from './domain/mount.ts';
import type { TuneMount } from './mount-operations.ts';

const VISIBILITIES = ['', 'hidden', 'unauth'];

/**
 * A lifetime as clients tune it, in seconds. The vendor's SDK has no way to leave a lifetime out: it
 * sends empty text for one that is to stay, and `system` for one that is to follow the system's again.
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

const CONFIG_FIELDS = {
  default_lease_ttl: leaseTtl('Default lifetime of leases; 0 or "system": the system’s.'),
  max_lease_ttl: leaseTtl('Longest lifetime of leases; 0 or "system": the system’s.'),
  force_no_cache: field.bool({ description: 'Accepted; nothing is cached anyway.' }),
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
  allowed_managed_keys: field.commaList({ description: 'Managed keys the engine may use.' }),
  delegated_auth_accessors: field.commaList({
    description: 'Auth mounts the engine may delegate to.',
  }),
  identity_token_key: field.string({ description: 'Key for identity tokens of the engine.' }),
} as const;

/** Of `config` on enabling. */
export const MOUNT_CONFIG_FIELDS = {
  ...CONFIG_FIELDS,
  plugin_version: field.string({ description: 'Accepted; engines have no versions of their own.' }),
} as const;

export const ENABLE_FIELDS = {
  path: field.string({ description: 'Where to mount.', required: true }),
  type: field.string({ description: 'Engine type.', default: '' }),
  description: field.string({ description: 'For people.', default: '' }),
  config: field.map({ description: 'Tuning from the start.', default: {} }),
  options: field.stringMap({ description: 'Options of the engine.', default: {} }),
  local: field.bool({ description: 'Not replicated to performance secondaries.', default: false }),
  seal_wrap: field.bool({
    description: 'Recorded; the barrier encrypts every value.',
    default: false,
  }),
  external_entropy_access: field.bool({ description: 'Recorded.', default: false }),
  plugin_name: field.string({ description: 'Older name of type.' }),
  plugin_version: field.string({ description: 'Accepted; engines have no versions of their own.' }),
} as const;

export const TUNE_FIELDS = {
  path: ENABLE_FIELDS.path,
  description: field.string({ description: 'For people.' }),
  ...MOUNT_CONFIG_FIELDS,
  token_type: field.string({ description: 'Auth mounts: kind of tokens.' }),
  options: field.stringMap({ description: 'Options to set; others keep their values.' }),
  user_lockout_config: field.map({ description: 'Accepted for auth mounts.' }),
} as const;

/** Undefined where nothing was given. */
export const toMountConfig = (values: FieldValues<typeof CONFIG_FIELDS>): MountConfigChanges => ({
  defaultLeaseTtlSeconds: values.default_lease_ttl,
  maxLeaseTtlSeconds: values.max_lease_ttl,
  forceNoCache: values.force_no_cache,
  listingVisibility: values.listing_visibility as MountConfig['listingVisibility'] | undefined,
  auditNonHmacRequestKeys: values.audit_non_hmac_request_keys,
  auditNonHmacResponseKeys: values.audit_non_hmac_response_keys,
  passthroughRequestHeaders: values.passthrough_request_headers,
  allowedResponseHeaders: values.allowed_response_headers,
  allowedManagedKeys: values.allowed_managed_keys,
  delegatedAuthAccessors: values.delegated_auth_accessors,
  identityTokenKey: values.identity_token_key,
});

export const toTuneMount = (values: FieldValues<typeof TUNE_FIELDS>): TuneMount => ({
  description: values.description,
  options: values.options,
  config: toMountConfig(values),
});
