/** A mount: an engine enabled at a path of a namespace, with its tuning. */

import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** Where the mounts of auth methods are. */
export const AUTH_PREFIX = 'auth/';

export const mountTableShape = Type.Enum(['secret', 'auth']);
export type MountTable = Shaped<typeof mountTableShape>;

export const mountConfigShape = Type.Object({
  /** In seconds; 0 means the system's value. */
  defaultLeaseTtlSeconds: Type.Number(),
  maxLeaseTtlSeconds: Type.Number(),
  /** Empty if not set, which means hidden. */
  listingVisibility: Type.Enum(['', 'hidden', 'unauth']),
  auditNonHmacRequestKeys: Type.Array(Type.String()),
  auditNonHmacResponseKeys: Type.Array(Type.String()),
  passthroughRequestHeaders: Type.Array(Type.String()),
  allowedResponseHeaders: Type.Array(Type.String()),
  delegatedAuthAccessors: Type.Array(Type.String()),
  /** Type of the tokens of an auth method; a role with a type of its own comes first for `default-…`. */
  tokenType: Type.Enum(['default-service', 'default-batch', 'service', 'batch']),
  /** When failed logins lock a user; 0 means the default. */
  userLockoutThreshold: Type.Number(),
  userLockoutDurationSeconds: Type.Number(),
  userLockoutCounterResetSeconds: Type.Number(),
  userLockoutDisabled: Type.Boolean(),
});
export type MountConfig = Shaped<typeof mountConfigShape>;

export const mountRecordShape = Type.Object({
  uuid: Type.String(),
  /** For example "pki_1a2b3c4d". */
  accessor: Type.String(),
  table: mountTableShape,
  type: Type.String(),
  namespaceId: Type.String(),
  /** Below the namespace (below auth/ for the auth table), with a trailing slash: "pki/". */
  path: Type.String(),
  description: Type.String(),
  local: Type.Boolean(),
  options: Type.Record(Type.String(), Type.String()),
  config: mountConfigShape,
});
export type MountRecord = Shaped<typeof mountRecordShape>;

/** The path of a mount among the mounts of both tables: "auth/token/". */
export const mountPathOf = ({ table, path }: Pick<MountRecord, 'table' | 'path'>): string =>
  table === 'auth' ? `${AUTH_PREFIX}${path}` : path;

export const DEFAULT_MOUNT_CONFIG: MountConfig = {
  defaultLeaseTtlSeconds: 0,
  maxLeaseTtlSeconds: 0,
  listingVisibility: '',
  auditNonHmacRequestKeys: [],
  auditNonHmacResponseKeys: [],
  passthroughRequestHeaders: [],
  allowedResponseHeaders: [],
  delegatedAuthAccessors: [],
  tokenType: 'default-service',
  userLockoutThreshold: 0,
  userLockoutDurationSeconds: 0,
  userLockoutCounterResetSeconds: 0,
  userLockoutDisabled: false,
};

export type MountConfigChanges = {
  readonly [K in keyof MountConfig]?: MountConfig[K] | undefined;
};

/** Undefined values remain unchanged. */
export const withConfigChanges = (
  config: MountConfig,
  changes: MountConfigChanges,
): MountConfig => ({
  ...config,
  ...(Object.fromEntries(
    Object.entries(changes).filter(([, value]) => value !== undefined),
  ) as Partial<MountConfig>),
});

export interface BuiltInMount {
  readonly table: MountTable;
  readonly type: string;
  readonly path: string;
  readonly description: string;
  readonly local: boolean;
}

/** Mounts of every namespace from its creation; they can be tuned, but not moved or disabled. */
export const BUILT_IN_MOUNTS: readonly BuiltInMount[] = [
  {
    table: 'secret',
    type: 'system',
    path: 'sys/',
    description: 'system endpoints used for control, policy and debugging',
    local: false,
  },
  {
    table: 'secret',
    type: 'cubbyhole',
    path: 'cubbyhole/',
    description: 'per-token private secret storage',
    local: true,
  },
  {
    table: 'secret',
    type: 'identity',
    path: 'identity/',
    description: 'entities and groups of those who sign in',
    local: false,
  },
  {
    table: 'auth',
    type: 'token',
    path: 'token/',
    description: 'token based credentials',
    local: false,
  },
];
