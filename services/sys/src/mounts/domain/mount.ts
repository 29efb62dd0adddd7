/** A mount: an engine enabled at a path of a namespace, with its tuning. */

export type MountTable = 'secret' | 'auth';

export interface MountConfig {
  /** In seconds; 0 means the system's value. */
  readonly defaultLeaseTtlSeconds: number;
  readonly maxLeaseTtlSeconds: number;
  /** "": not set, which means hidden. */
  readonly listingVisibility: '' | 'hidden' | 'unauth';
  readonly auditNonHmacRequestKeys: readonly string[];
  readonly auditNonHmacResponseKeys: readonly string[];
  readonly passthroughRequestHeaders: readonly string[];
  readonly allowedResponseHeaders: readonly string[];
  readonly delegatedAuthAccessors: readonly string[];
}

export interface MountRecord {
  readonly uuid: string;
  /** For example "pki_1a2b3c4d". */
  readonly accessor: string;
  readonly table: MountTable;
  readonly type: string;
  readonly namespaceId: string;
  /** Below the namespace (below auth/ for the auth table), with a trailing slash: "pki/". */
  readonly path: string;
  readonly description: string;
  readonly local: boolean;
  readonly options: Readonly<Record<string, string>>;
  readonly config: MountConfig;
}

export const DEFAULT_MOUNT_CONFIG: MountConfig = {
  defaultLeaseTtlSeconds: 0,
  maxLeaseTtlSeconds: 0,
  listingVisibility: '',
  auditNonHmacRequestKeys: [],
  auditNonHmacResponseKeys: [],
  passthroughRequestHeaders: [],
  allowedResponseHeaders: [],
  delegatedAuthAccessors: [],
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
    table: 'auth',
    type: 'token',
    path: 'token/',
    description: 'token based credentials',
    local: false,
  },
];
