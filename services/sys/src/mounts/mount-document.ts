/** Wire shapes of mounts. */
import type { Mount, Namespace } from '@keelson/proto/edge/v1/edge';
import { effectiveLeaseTtls, type LeaseTtls } from './domain/lease-ttl.ts';
import { type MountRecord, mountPathOf } from './domain/mount.ts';
import { effectiveUserLockout, isUserLockoutTuned, locksUsers } from './domain/user-lockout.ts';

/** List settings appear only once they were configured. */
const configuredLists = ({ config }: MountRecord): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries({
      audit_non_hmac_request_keys: config.auditNonHmacRequestKeys,
      audit_non_hmac_response_keys: config.auditNonHmacResponseKeys,
      passthrough_request_headers: config.passthroughRequestHeaders,
      allowed_response_headers: config.allowedResponseHeaders,
      delegated_auth_accessors: config.delegatedAuthAccessors,
    }).filter(([, list]) => list.length > 0),
  );

const visibility = ({ config }: MountRecord): Record<string, unknown> =>
  config.listingVisibility === '' ? {} : { listing_visibility: config.listingVisibility };

/** As soon as one of the settings was made. */
const userLockout = ({ config }: MountRecord): Record<string, unknown> => {
  if (!isUserLockoutTuned(config)) return {};
  const effective = effectiveUserLockout(config);
  return {
    user_lockout_counter_reset_duration: effective.counterResetSeconds,
    user_lockout_disable: effective.disabled,
    user_lockout_duration: effective.durationSeconds,
    user_lockout_threshold: effective.threshold,
  };
};

/** `sys/mounts`: TTLs as tuned, 0 where the system's value applies. */
export const mountDocument = (mount: MountRecord): Record<string, unknown> => ({
  type: mount.type,
  description: mount.description,
  accessor: mount.accessor,
  uuid: mount.uuid,
  local: mount.local,
  seal_wrap: false,
  external_entropy_access: false,
  options: Object.keys(mount.options).length === 0 ? null : mount.options,
  config: {
    default_lease_ttl: mount.config.defaultLeaseTtlSeconds,
    max_lease_ttl: mount.config.maxLeaseTtlSeconds,
    force_no_cache: false,
    ...visibility(mount),
    ...configuredLists(mount),
    ...(mount.table === 'auth' ? { token_type: mount.config.tokenType } : {}),
    ...(isUserLockoutTuned(mount.config) && { user_lockout_config: userLockout(mount) }),
  },
  plugin_version: '',
  running_plugin_version: '',
  running_sha256: '',
  deprecation_status: 'supported',
});

/** `sys/mounts/:path/tune`: effective TTLs. */
export const tuneDocument = (mount: MountRecord, system: LeaseTtls): Record<string, unknown> => {
  const ttls = effectiveLeaseTtls(mount.config, system);
  return {
    default_lease_ttl: ttls.defaultLeaseTtlSeconds,
    max_lease_ttl: ttls.maxLeaseTtlSeconds,
    force_no_cache: false,
    description: mount.description,
    ...visibility(mount),
    ...configuredLists(mount),
    ...(Object.keys(mount.options).length === 0 ? {} : { options: mount.options }),
    ...(mount.table === 'auth' ? { token_type: mount.config.tokenType } : {}),
    ...userLockout(mount),
  };
};

/** The mount of a request as engines receive it. */
export const toEdgeMount = (
  mount: MountRecord,
  namespace: Namespace,
  system: LeaseTtls,
): Mount => ({
  uuid: mount.uuid,
  accessor: mount.accessor,
  type: mount.type,
  path: mountPathOf(mount),
  namespace,
  local: mount.local,
  ...effectiveLeaseTtls(mount.config, system),
  passthroughRequestHeaders: [...mount.config.passthroughRequestHeaders],
  allowedResponseHeaders: [...mount.config.allowedResponseHeaders],
  options: { ...mount.options },
  description: mount.description,
  userLockout: locksUsers(mount.type) ? effectiveUserLockout(mount.config) : undefined,
});
