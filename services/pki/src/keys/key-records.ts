import { type MountScope, sharedRecords, sharedSetting } from '@keelson/engine';
import { type Reads, type Transaction } from '@keelson/storage';
import { Type } from 'typebox';
import { whenUsed } from '../mounts/damaged-settings.ts';
import { DamagedReferences } from './domain/damaged-references.ts';
import { keyShape, MountKeys } from './domain/mount-keys.ts';

/** By id. */
export const keyRecords = sharedRecords('keys', { version: 1, shape: keyShape });

const defaultKeyRecord = sharedSetting('default-key', {
  version: 1,
  shape: Type.Object({ keyId: Type.String() }),
});

const loadDefaultKeyId = async (reads: Reads, mount: MountScope): Promise<string> =>
  (await defaultKeyRecord(mount).find(reads))?.keyId ?? '';

/** @param keyId "" for none */
export const writeDefaultKeyId = (tx: Transaction, mount: MountScope, keyId: string): void =>
  defaultKeyRecord(mount).write(tx, { keyId });

export const loadKeyRing = async (reads: Reads, mount: MountScope): Promise<MountKeys> => {
  const { entries, damaged } = await keyRecords(mount).readableEntries(reads);
  return new MountKeys(
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
