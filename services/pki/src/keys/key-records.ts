import { jsonRecords, type Reads, type RecordCollection, type Transaction } from '@keelson/storage';
import { whenUsed } from '../mounts/damaged-settings.ts';
import { type MountScope, sharedPrefix, sharedSettingsPrefix } from '../mounts/mount-records.ts';
import { DamagedReferences } from './domain/damaged-references.ts';
import { type Key, KeyRing } from './domain/key-ring.ts';

/** By id. */
export const keyRecords = (mount: MountScope): RecordCollection<Key> =>
  jsonRecords(`${sharedPrefix(mount)}keys/`);

const DEFAULT_KEY = 'default-key';

const defaultRecords = (mount: MountScope) =>
  jsonRecords<{ readonly keyId: string }>(sharedSettingsPrefix(mount));

const loadDefaultKeyId = async (reads: Reads, mount: MountScope): Promise<string> =>
  (await defaultRecords(mount).find(reads, DEFAULT_KEY))?.keyId ?? '';

/** @param keyId "" for none */
export const writeDefaultKeyId = (tx: Transaction, mount: MountScope, keyId: string): void =>
  defaultRecords(mount).write(tx, DEFAULT_KEY, { keyId });

export const loadKeyRing = async (reads: Reads, mount: MountScope): Promise<KeyRing> => {
  const { entries, damaged } = await keyRecords(mount).readableEntries(reads);
  return new KeyRing(
    entries.map(([, key]) => key),
    await whenUsed(loadDefaultKeyId(reads, mount)),
    new DamagedReferences(keyRecords(mount), damaged),
  );
};

/** Makes the first of the new keys the default if there is none. */
export const adoptDefaultKey = async (
  tx: Transaction,
  mount: MountScope,
  [first]: readonly string[],
): Promise<void> => {
  if (first !== undefined && (await loadDefaultKeyId(tx, mount)) === '')
    writeDefaultKeyId(tx, mount, first);
};
