/** EST settings of all mounts, below one prefix: labels are searched over all of them. */
import { type MountScope, OF_MOUNT } from '@keelson/engine';
import { collections, type Reads, type RecordCollection, type Transaction } from '@keelson/storage';
import { type EstConfig, estConfigShape, NO_EST } from './domain/est-config.ts';

const places = collections('est', {
  scopes: ['shared', 'local'],
  version: 1,
  keys: 'paths',
  owner: OF_MOUNT,
  shape: estConfigShape,
});

const recordsOf = ({ local }: MountScope): RecordCollection<EstConfig> =>
  places.at(local ? 'local' : 'shared');

const keyOf = ({ uuid }: MountScope): string => `${uuid}/config`;

export const loadEstConfig = async (reads: Reads, mount: MountScope): Promise<EstConfig> =>
  (await recordsOf(mount).find(reads, keyOf(mount))) ?? NO_EST;

export const writeEstConfig = (tx: Transaction, mount: MountScope, config: EstConfig): void =>
  recordsOf(mount).write(tx, keyOf(mount), config);

/** Prefixes of the settings of all mounts. */
export const EST_PREFIXES: readonly string[] = places.declaration.scopes.map(
  (scope) => places.at(scope).prefix,
);

/** The settings of all mounts, by the uuid of the mount. */
export interface EstConfigs {
  readonly readable: ReadonlyMap<string, EstConfig>;
  /** Paths of the records that cannot be decrypted. */
  readonly damaged: ReadonlyMap<string, string>;
}

const mountOf = (key: string): string => key.replace(/\/config$/, '');

export const loadEstConfigs = async (reads: Reads): Promise<EstConfigs> => {
  const readable = new Map<string, EstConfig>();
  const damaged = new Map<string, string>();
  for (const scope of places.declaration.scopes) {
    const records = places.at(scope);
    const found = await records.readableEntries(reads);
    for (const [key, config] of found.entries) readable.set(mountOf(key), config);
    for (const key of found.damaged) damaged.set(mountOf(key), records.path(key));
  }
  return { readable, damaged };
};
