/** EST settings of all mounts, below one prefix: labels are searched over all of them. */
import {
  jsonRecords,
  type Reads,
  type RecordCollection,
  readableOnly,
  type Transaction,
} from '@keelson/storage';
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

/** By the uuid of the mount; the settings of a mount that cannot be decrypted are left out. */
export const loadEstConfigs = async (reads: Reads): Promise<ReadonlyMap<string, EstConfig>> => {
  const entries = await Promise.all(
    Object.values(EST_PREFIXES).map((prefix) => recordsBelow(prefix).entries(readableOnly(reads))),
  );
  return new Map(entries.flat().map(([key, config]) => [key.replace(/\/config$/, ''), config]));
};
