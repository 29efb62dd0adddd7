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

/** Roles and settings: the same in all clusters. */
export const sharedPrefix = ({ uuid, local }: MountScope): string =>
  `${local ? 'local' : 'shared'}/mounts/${uuid}/`;

/** Records that each cluster has for itself. */
export const localPrefix = ({ uuid }: MountScope): string => `local/mounts/${uuid}/`;

/** Settings of a mount that all clusters share, one record each. */
export const sharedSettingsPrefix = (mount: MountScope): string => `${sharedPrefix(mount)}config/`;

/** Settings of a mount that each cluster has for itself, one record each. */
export const localSettingsPrefix = (mount: MountScope): string => `${localPrefix(mount)}config/`;

/** The mount that a record belongs to: "*" in its path, or the first segment of its key. */
export const OF_MOUNT = { kind: 'mount', by: '*' } as const;

/** The records of a mount, in one of the scopes. */
export const ofMount = <Records>(
  { at, declaration }: Placed<Records>,
  scopeOf: (mount: MountScope) => RecordScope,
) => Object.assign((mount: MountScope) => at(scopeOf(mount), mount.uuid), { declaration });

const everywhere = ({ local }: MountScope): RecordScope => (local ? 'local' : 'shared');
const here = (): RecordScope => 'local';

/** Records that are the same in all clusters; those of a local mount stay in its cluster. */
export const sharedRecords = <Shape extends TSchema>(name: string, format: RecordFormat<Shape>) =>
  ofMount(
    collections(`mounts/*/${name}`, {
      scopes: ['shared', 'local'],
      keys: 'paths',
      owner: OF_MOUNT,
      ...format,
    }),
    everywhere,
  );

/** Records that every cluster has for itself. */
export const localRecords = <Shape extends TSchema>(name: string, format: RecordFormat<Shape>) =>
  ofMount(
    collections(`mounts/*/${name}`, {
      scopes: ['local'],
      keys: 'paths',
      owner: OF_MOUNT,
      ...format,
    }),
    here,
  );

/** A setting that all clusters share. */
export const sharedSetting = <Shape extends TSchema>(name: string, format: RecordFormat<Shape>) =>
  ofMount(
    singleRecords(`mounts/*/config/${name}`, {
      scopes: ['shared', 'local'],
      owner: OF_MOUNT,
      ...format,
    }),
    everywhere,
  );

/** A setting that every cluster has for itself. */
export const localSetting = <Shape extends TSchema>(name: string, format: RecordFormat<Shape>) =>
  ofMount(
    singleRecords(`mounts/*/config/${name}`, { scopes: ['local'], owner: OF_MOUNT, ...format }),
    here,
  );
