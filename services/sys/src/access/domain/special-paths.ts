/**
 * Paths of this service with special access rules, relative to the namespace. Engines announce
 * their special paths when they join.
 */

import { PathSet } from '../../policies/domain/path-set.ts';
import type { Operation } from './operation.ts';

/** Answered without a token. A token that is sent is still resolved: the answer may then show more. */
const UNAUTHENTICATED_PATHS = new PathSet([
  'sys/wrapping/lookup',
  // The wrapping token alone authorises these; the handler words the refusal of a used or foreign one.
  'sys/wrapping/unwrap',
  'sys/wrapping/rewrap',
  'sys/wrapping/pubkey',
  // The sealed id of a login whose first factor was verified authorises it.
  'sys/mfa/validate',
  // How others verify identity tokens, and where clients prove themselves or show an access token.
  'identity/oidc/.well-known/*',
  'identity/oidc/provider/+/.well-known/*',
  'identity/oidc/provider/+/token',
  'identity/oidc/provider/+/userinfo',
  'sys/replication/status',
  'sys/replication/performance/status',
  'sys/replication/dr/status',
  'sys/replication/dr/secondary/promote',
  'sys/replication/dr/secondary/disable',
  'sys/replication/dr/secondary/recover',
  'sys/replication/dr/secondary/update-primary',
  'sys/replication/dr/secondary/operation-token/delete',
  'sys/replication/dr/secondary/reindex',
  'sys/replication/dr/secondary/merkle-check',
  'sys/internal/specs/openapi',
  'sys/internal/ui/mounts',
  'sys/internal/ui/mounts/*',
  'sys/internal/ui/namespaces',
  'sys/internal/ui/feature-flags',
  'sys/internal/ui/unauthenticated-messages',
  'sys/internal/ui/authenticated-messages',
  'sys/init',
  'sys/seal-status',
  'sys/unseal',
  'sys/leader',
  'sys/health',
  'sys/decode-token',
]);

/**
 * Authorised by key shares; whether they also need a token with `sudo` is a setting. Where they do not, such a
 * token may cancel an attempt.
 */
export const CEREMONY_PATHS = new PathSet([
  'sys/replication/dr/secondary/generate-operation-token/attempt',
  'sys/replication/dr/secondary/generate-operation-token/update',
  'sys/generate-root/attempt',
  'sys/generate-root/update',
  'sys/rekey/init',
  'sys/rekey/update',
  'sys/rekey/verify',
  'sys/rekey-recovery-key/init',
  'sys/rekey-recovery-key/update',
  'sys/rekey-recovery-key/verify',
]);

/** The setting that decides about ceremonies. */
export interface CeremonyRule {
  readonly ceremoniesWithoutToken: boolean;
}

/** Whether a path is answered without a token. */
export const isUnauthenticated = (
  path: string,
  { ceremoniesWithoutToken }: CeremonyRule,
): boolean =>
  UNAUTHENTICATED_PATHS.has(path) || (ceremoniesWithoutToken && CEREMONY_PATHS.has(path));

/** Need `sudo` in addition to the capability of the operation. */
const ROOT_PROTECTED_PATHS = new PathSet([
  'auth/token/accessors',
  'auth/token/revoke-orphan',
  'sys/auth/*',
  'sys/remount',
  'sys/audit',
  'sys/audit/*',
  'sys/raw',
  'sys/raw/*',
  'sys/replication/primary/secondary-token',
  'sys/replication/performance/primary/secondary-token',
  'sys/replication/dr/primary/secondary-token',
  'sys/replication/reindex',
  'sys/replication/dr/reindex',
  'sys/replication/performance/reindex',
  'sys/rotate',
  'sys/rotate/keyring',
  'sys/rotate/root/*',
  'sys/rotate/recovery/*',
  'sys/rotate/unseal-key',
  'sys/generate-root-token/*',
  'sys/rekey/backup',
  'sys/rekey/recovery-key-backup',
  'sys/config/cors',
  'sys/config/auditing/*',
  'sys/config/ui/headers/*',
  'sys/plugins/catalog/*',
  'sys/plugins/runtimes/catalog/*',
  'sys/revoke-prefix/*',
  'sys/revoke-force/*',
  'sys/leases/revoke-prefix/*',
  'sys/leases/revoke-force/*',
  'sys/leases/lookup/*',
  'sys/leases',
  'sys/storage/raft/snapshot',
  'sys/storage/raft/snapshot-force',
  'sys/storage/raft/snapshot-auto/config/*',
  'sys/internal/inspect/*',
  'sys/internal/counters/activity/export',
  'sys/internal/ui/recent-requests',
  'sys/seal',
  'sys/step-down',
  'sys/upgrade',
  'sys/capabilities-accessor',
]);

const ROOT_PROTECTED_WRITES = new PathSet(['sys/rotate/config', 'sys/rotate/keyring/config']);

/** Whether `operation` on a path needs `sudo`. */
export const isRootProtected = (
  path: string,
  operation: Operation,
  { ceremoniesWithoutToken }: CeremonyRule,
): boolean =>
  ROOT_PROTECTED_PATHS.has(path) ||
  (operation === 'update' && ROOT_PROTECTED_WRITES.has(path)) ||
  (!ceremoniesWithoutToken && CEREMONY_PATHS.has(path));

const RESTRICTED_PATHS = new PathSet([
  'sys/internal/counters/config',
  'sys/internal/counters/entities',
  'sys/internal/counters/tokens',
  'sys/internal/counters/requests',
  'sys/internal/ui/recent-requests',
  'sys/history',
  'sys/replication/*',
  'sys/seal',
  'sys/unseal',
  'sys/seal-status',
  'sys/init',
  'sys/health',
  'sys/rekey/*',
  'sys/rekey-recovery-key/*',
  'sys/rotate',
  'sys/rotate/*',
  'sys/key-status',
  'sys/generate-root/*',
  'sys/generate-root-token/*',
  'sys/decode-token',
  'sys/raw',
  'sys/raw/*',
  'sys/audit',
  'sys/audit/*',
  'sys/audit-hash/*',
  'sys/config/*',
  'sys/storage/*',
  'sys/leader',
  'sys/ha-status',
  'sys/step-down',
  'sys/upgrade',
  'sys/license',
  'sys/license/*',
  'sys/metrics',
  'sys/host-info',
  'sys/version-history',
  'sys/pprof',
  'sys/pprof/*',
  'sys/plugins/*',
  'sys/quotas/*',
]);

const NAMESPACED_CONFIG = 'sys/config/ui/custom-messages';

/** Whether a path exists in the root namespace only. */
export const isRestricted = (path: string): boolean =>
  RESTRICTED_PATHS.has(path) &&
  path !== NAMESPACED_CONFIG &&
  !path.startsWith(`${NAMESPACED_CONFIG}/`);

/** Paths answered while the cluster is sealed, not initialized or changing its replication role. */
export const SERVED_WHILE_SEALED = new PathSet([
  'sys/init',
  'sys/seal-status',
  'sys/unseal',
  'sys/leader',
  'sys/health',
]);

/** Paths a DR secondary answers. Most are authorised by a DR operation token in the body. */
export const SERVED_BY_DR_SECONDARY = new PathSet([
  'sys/init',
  'sys/seal-status',
  'sys/unseal',
  'sys/seal',
  'sys/leader',
  'sys/health',
  'sys/metrics',
  'sys/replication/status',
  'sys/replication/performance/status',
  'sys/replication/dr/status',
  'sys/replication/dr/secondary/*',
]);

/** Answered in a locked namespace, so that it can be unlocked. */
export const SERVED_WHILE_LOCKED = new PathSet([
  'sys/namespaces/api-lock/unlock',
  'sys/namespaces/api-lock/unlock/*',
]);

/** Paths whose handler receives the token of the request. */
export const NEEDS_TOKEN = new PathSet([
  'auth/token/lookup-self',
  'auth/token/renew-self',
  'auth/token/revoke-self',
  'auth/token/own',
  'auth/token/own/*',
  'sys/capabilities-self',
  'sys/wrapping/*',
  'identity/oidc/provider/+/authorize',
  'identity/oidc/provider/+/userinfo',
]);

/** Handlers that receive the credentials of Basic authentication, by which a client proves itself. */
export const NEEDS_CREDENTIALS = new PathSet(['identity/oidc/provider/+/token']);

/** Handlers that need the certificate of the client: tokens of some logins are renewed with theirs alone. */
export const NEEDS_CERTIFICATE = new PathSet(['auth/token/renew-self']);

const AUDIT_DEVICES = 'sys/audit/';

/** Name of the audit device that a write to `path` enables. */
export const enabledAuditDevice = (path: string): string | undefined =>
  path.startsWith(AUDIT_DEVICES) ? path.slice(AUDIT_DEVICES.length) : undefined;
