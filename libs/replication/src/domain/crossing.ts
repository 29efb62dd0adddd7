/** Records that leave a cluster: all but node/ to a DR secondary, only shared/ to a performance secondary. */
import type { TreeType } from '@keelson/storage';

/** The two kinds of replication sets. A cluster has one role in each. */
export const REPLICATION_KINDS = ['performance', 'dr'] as const;
export type ReplicationKind = (typeof REPLICATION_KINDS)[number];

const PREFIXES: Readonly<Record<ReplicationKind, readonly string[]>> = {
  performance: ['shared/'],
  dr: ['shared/', 'local/'],
};

/** Merkle trees that primary and secondary have in common. */
export const TREES_OF: Readonly<Record<ReplicationKind, readonly TreeType[]>> = {
  performance: ['replicated'],
  dr: ['replicated', 'local'],
};

export const crosses = (kind: ReplicationKind, path: string): boolean =>
  PREFIXES[kind].some((prefix) => path.startsWith(prefix));
