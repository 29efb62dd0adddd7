/** Where a mount keeps its records: by its uuid, so that a path can be mounted again with nothing left of the old. */

/** What decides about the place of a mount's records. */
export interface MountScope {
  readonly uuid: string;
  /** Nothing of a local mount leaves the cluster. */
  readonly local: boolean;
}

/** Issuers, keys, roles and settings: the same in all clusters. */
export const sharedPrefix = ({ uuid, local }: MountScope): string =>
  `${local ? 'local' : 'shared'}/mounts/${uuid}/`;

/** Lists, metadata, addresses: each cluster its own. */
export const localPrefix = ({ uuid }: MountScope): string => `local/mounts/${uuid}/`;

/**
 * Kinds of records of which there may be millions, or megabytes, lie apart from the rest: a projection
 * then reads records of its own kind only.
 */
export const BULK = {
  certificates: 'local/certs/',
  revocations: 'local/revoked/',
  crlParts: 'local/crl-parts/',
  outbox: 'local/outbox/',
  clusterRevocations: 'shared/cluster-revocations/',
  unifiedCrlParts: 'shared/unified-crl-parts/',
  acme: 'local/acme/',
} as const;

export const bulkPrefix = (kind: keyof typeof BULK, { uuid }: MountScope): string =>
  `${BULK[kind]}${uuid}/`;

/** EST settings: those of all mounts are looked at together. */
export const EST_PREFIXES = { shared: 'shared/est/', local: 'local/est/' } as const;

/** Where records lie that a paths filter of replication may keep from a secondary: by mount. */
export const REPLICATED_AREAS = [
  'shared/mounts/',
  EST_PREFIXES.shared,
  BULK.clusterRevocations,
  BULK.unifiedCrlParts,
].map((below) => ({ below, named: 'mount', segment: 0 }) as const);

/** Prefixes below which all mounts lie. */
export const ALL_MOUNTS_PREFIXES: readonly string[] = [
  'shared/mounts/',
  'local/mounts/',
  ...Object.values(EST_PREFIXES),
  ...Object.values(BULK),
];
