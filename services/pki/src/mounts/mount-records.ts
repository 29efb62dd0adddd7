/**
 * Where a mount keeps its records: by its uuid, so that a path can be mounted again with nothing left of
 * the old.
 */

import {
  collections,
  type Placed,
  type RecordFormat,
  type RecordScope,
  singleRecords,
} from '@keelson/storage';
import type { TSchema } from 'typebox';

/** The parts of a mount that decide where its records are stored. */
export interface MountScope {
  readonly uuid: string;
  /** No record of a local mount leaves the cluster. */
  readonly local: boolean;
}

/** Issuers, keys, roles and settings: the same in all clusters. */
export const sharedPrefix = ({ uuid, local }: MountScope): string =>
  `${local ? 'local' : 'shared'}/mounts/${uuid}/`;

/** Lists, metadata, addresses: each cluster its own. */
export const localPrefix = ({ uuid }: MountScope): string => `local/mounts/${uuid}/`;

/** Settings of a mount that all clusters share, one record each. */
export const sharedSettingsPrefix = (mount: MountScope): string => `${sharedPrefix(mount)}config/`;

/** Settings of a mount that each cluster has for itself, one record each. */
export const localSettingsPrefix = (mount: MountScope): string => `${localPrefix(mount)}config/`;

/**
 * Kinds of records with millions of entries, or megabytes of data, have their own prefixes, so that a
 * projection reads only records of its kind.
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

/** EST settings; those of all mounts are searched together. */
export const EST_PREFIXES = { shared: 'shared/est/', local: 'local/est/' } as const;

/** Areas of records that a paths filter of replication can withhold from a secondary, by mount. */
export const REPLICATED_AREAS = [
  'shared/mounts/',
  EST_PREFIXES.shared,
  BULK.clusterRevocations,
  BULK.unifiedCrlParts,
].map((below) => ({ below, named: 'mount', segment: 0 }) as const);

/** The records of a mount, in one of the scopes. */
const ofMount = <Records>(
  { at, declaration }: Placed<Records>,
  scopeOf: (mount: MountScope) => RecordScope,
) => Object.assign((mount: MountScope) => at(scopeOf(mount), mount.uuid), { declaration });

const everywhere = ({ local }: MountScope): RecordScope => (local ? 'local' : 'shared');
const here = (): RecordScope => 'local';

/** Records that are the same in all clusters; those of a local mount stay in its cluster. */
export const sharedRecords = <Shape extends TSchema>(name: string, format: RecordFormat<Shape>) =>
  ofMount(
    collections(`mounts/*/${name}`, { scopes: ['shared', 'local'], keys: 'paths', ...format }),
    everywhere,
  );

/** Records that every cluster has for itself. */
export const localRecords = <Shape extends TSchema>(name: string, format: RecordFormat<Shape>) =>
  ofMount(collections(`mounts/*/${name}`, { scopes: ['local'], keys: 'paths', ...format }), here);

/** A setting that all clusters share. */
export const sharedSetting = <Shape extends TSchema>(name: string, format: RecordFormat<Shape>) =>
  ofMount(
    singleRecords(`mounts/*/config/${name}`, { scopes: ['shared', 'local'], ...format }),
    everywhere,
  );

/** A setting that every cluster has for itself. */
export const localSetting = <Shape extends TSchema>(name: string, format: RecordFormat<Shape>) =>
  ofMount(singleRecords(`mounts/*/config/${name}`, { scopes: ['local'], ...format }), here);

/** State of ACME clients of one kind. */
export const acmeRecords = <Shape extends TSchema>(name: string, format: RecordFormat<Shape>) =>
  ofMount(collections(`acme/*/${name}`, { scopes: ['local'], keys: 'paths', ...format }), here);

/** Prefixes of the records of all mounts. */
export const ALL_MOUNTS_PREFIXES: readonly string[] = [
  'shared/mounts/',
  'local/mounts/',
  ...Object.values(EST_PREFIXES),
  ...Object.values(BULK),
];
