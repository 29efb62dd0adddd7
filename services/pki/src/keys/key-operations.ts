import { createPrivateKey, randomUUID } from 'node:crypto';
import { type MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Reads, Store, Transaction } from '@keelson/storage';
import {
  chooseSignatureScheme,
  createKeyPair,
  createSigner,
  describeKey,
  type KeyAlgorithm,
  type KeyPair,
  type SchemeChoice,
  type Signer,
} from '@keelson/x509';
import { checkFreeName, requireNewDefault } from '../mounts/reference-name.ts';
import { refuseCompromisedKey } from './compromised-keys.ts';
import type { Key, MountKeys } from './domain/mount-keys.ts';
import { adoptDefaultKey, keyRecords, loadKeyRing, writeDefaultKeyId } from './key-records.ts';

/** A new key of a mount. */
export const toKey = (pair: KeyPair, name: string): Key => ({
  id: randomUUID(),
  name,
  type: pair.algorithm.type,
  privateKey: Buffer.from(pair.privateKeyDer).toString('base64'),
  publicKey: Buffer.from(pair.publicKeyDer).toString('base64'),
});

/** The choice of key and signature scheme for a new authority. */
export interface KeyChoice {
  /** Key of the mount; undefined means a new one. */
  readonly keyRef: string | undefined;
  readonly keyName: string;
  readonly algorithm: KeyAlgorithm;
  readonly scheme: SchemeChoice;
}

export interface ChosenKey {
  readonly key: Key;
  readonly isNew: boolean;
  readonly signer: Signer;
}

/**
 * Finds or generates the key; a new one is not stored yet.
 * @throws KeelsonError `pki.key_not_found`; `request.invalid` for a key that was revoked as compromised
 */
export const chooseKey = async (
  reads: Reads,
  mount: MountScope,
  ring: MountKeys,
  choice: KeyChoice,
): Promise<ChosenKey> => {
  const existing = choice.keyRef === undefined ? undefined : ring.require(choice.keyRef);
  if (existing !== undefined)
    await refuseCompromisedKey(reads, mount, Buffer.from(existing.publicKey, 'base64'));
  const key = existing ?? toKey(await createKeyPair(choice.algorithm), choice.keyName);
  const privateKey = createPrivateKey({
    key: Buffer.from(key.privateKey, 'base64'),
    format: 'der',
    type: 'pkcs8',
  });
  const scheme = chooseSignatureScheme(describeKey(privateKey), choice.scheme);
  return { key, isNew: existing === undefined, signer: createSigner(privateKey, scheme) };
};

/** Stores a key under a name that is free. */
export const storeKey = (tx: Transaction, mount: MountScope, ring: MountKeys, key: Key): void => {
  checkFreeName('key', key.name, ring.all);
  keyRecords(mount).write(tx, key.id, key);
};

/** Generates and stores a key; the first one becomes the default. */
export const generateKey = async (
  store: Store,
  mount: MountScope,
  algorithm: KeyAlgorithm,
  name: string,
): Promise<Key> => {
  const key = toKey(await createKeyPair(algorithm), name);
  await store.transact(async (tx) => {
    storeKey(tx, mount, await loadKeyRing(tx, mount), key);
    await adoptDefaultKey(tx, mount, [key.id]);
  });
  return key;
};

/** Gives a key another name; "" removes it. */
export const renameKey = (
  store: Store,
  mount: MountScope,
  reference: string,
  name: string,
): Promise<Key> =>
  store.transact(async (tx) => {
    const ring = await loadKeyRing(tx, mount);
    const renamed = { ...ring.require(reference), name };
    checkFreeName('key', name, ring.all, renamed.id);
    keyRecords(mount).write(tx, renamed.id, renamed);
    return renamed;
  });

export interface KeyUse {
  readonly store: Store;
  /** Id of an issuer of the mount that has this key; undefined if none has it. */
  readonly issuerWithKey: (
    reads: Reads,
    mount: MountScope,
    keyId: string,
  ) => Promise<string | undefined>;
}

/** Deletes a key that no issuer uses; returns warnings. An unknown key is not an error. */
export const deleteKey = (
  { store, issuerWithKey }: KeyUse,
  mount: MountScope,
  reference: string,
): Promise<readonly string[]> =>
  store.transact(async (tx) => {
    const ring = await loadKeyRing(tx, mount);
    const key = ring.find(reference);
    if (key === undefined) return [];
    const user = await issuerWithKey(tx, mount, key.id);
    if (user !== undefined)
      throw new KeelsonError('request.invalid', {
        text: `Failed to Delete Key.  Key in Use by Issuer: ${user}`,
      });
    keyRecords(mount).delete(tx, key.id);
    if (ring.defaultId !== key.id) return [];
    writeDefaultKeyId(tx, mount, '');
    return [
      `Deleted key ${key.id} (via key_ref ${reference}); this was configured as the default key.`,
    ];
  });

/** Makes a key the default; returns its id. */
export const chooseDefaultKey = (
  store: Store,
  mount: MountScope,
  reference: string,
): Promise<string> =>
  store.transact(async (tx) => {
    const ring = await loadKeyRing(tx, mount);
    const { id } = requireNewDefault(reference, (one) => ring.find(one));
    writeDefaultKeyId(tx, mount, id);
    return id;
  });
