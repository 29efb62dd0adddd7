/** EST settings of all mounts, below one prefix: labels are searched over all of them. */
import { jsonRecords, type Reads, type RecordCollection, type Transaction } from '@keelson/storage';
import { EST_PREFIXES, type MountScope } from '../mounts/mount-records.ts';
import { type EstConfig, NO_EST } from './domain/est-config.ts';

const recordsBelow = (prefix: string): RecordCollection<EstConfig> => jsonRecords(prefix);

const recordsOf = ({ local }: MountScope): RecordCollection<EstConfig> =>
  recordsBelow(local ? EST_PREFIXES.local : EST_PREFIXES.shared);

const keyOf = ({ uuid }: MountScope): string => `${uuid}/config`;

export const loadEstConfig = async (reads: Reads, mount: MountScope): Promise<EstConfig> =>
  (await recordsOf(mount).find(reads, keyOf(mount))) ?? NO_EST;

export const writeEstConfig = (tx: Transaction, mount: MountScope, config: EstConfig): void =>
  recordsOf(mount).write(tx, keyOf(mount), config);

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
  for (const prefix of Object.values(EST_PREFIXES)) {
    const records = recordsBelow(prefix);
    const found = await records.readableEntries(reads);
    for (const [key, config] of found.entries) readable.set(mountOf(key), config);
    for (const key of found.damaged) damaged.set(mountOf(key), records.path(key));
  }
  return { readable, damaged };
};
