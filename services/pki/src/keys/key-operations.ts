import { createPrivateKey, randomUUID } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import type { Store, Transaction } from '@keelson/storage';
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
import { adoptAsDefault } from '../issuers/default-adoption.ts';
import type { Authority, Key } from '../issuers/domain/authority.ts';
import { checkFreeName } from '../issuers/domain/free-name.ts';
import {
  defaultsRecords,
  keyRecords,
  loadAuthority,
  loadDefaults,
  SETTING,
} from '../issuers/issuer-records.ts';
import type { MountScope } from '../mounts/mount-records.ts';

/** A new pair as a key of a mount. */
export const toKey = (pair: KeyPair, name: string): Key => ({
  id: randomUUID(),
  name,
  type: pair.algorithm.type,
  privateKey: Buffer.from(pair.privateKeyDer).toString('base64'),
  publicKey: Buffer.from(pair.publicKeyDer).toString('base64'),
});

/** The key of a new authority and how it signs. */
export interface KeyChoice {
  /** Key of the mount; undefined: a new one. */
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

/** Finds or makes the key; a new one is not stored yet. */
export const chooseKey = async (authority: Authority, choice: KeyChoice): Promise<ChosenKey> => {
  const existing = choice.keyRef === undefined ? undefined : authority.requireKey(choice.keyRef);
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
export const storeKey = (
  tx: Transaction,
  mount: MountScope,
  authority: Authority,
  key: Key,
): void => {
  checkFreeName('key', key.name, authority.keys);
  keyRecords(mount).write(tx, key.id, key);
};

/** Generates a key of its own; the first one becomes the default. */
export const generateKey = async (
  store: Store,
  mount: MountScope,
  algorithm: KeyAlgorithm,
  name: string,
): Promise<Key> => {
  const key = toKey(await createKeyPair(algorithm), name);
  await store.transact(async (tx) => {
    storeKey(tx, mount, await loadAuthority(tx, mount), key);
    await adoptAsDefault(tx, mount, { keyIds: [key.id] });
  });
  return key;
};

/** Gives a key another name; "" takes it away. */
export const renameKey = (
  store: Store,
  mount: MountScope,
  reference: string,
  name: string,
): Promise<Key> =>
  store.transact(async (tx) => {
    const authority = await loadAuthority(tx, mount);
    const renamed = { ...authority.requireKey(reference), name };
    checkFreeName('key', name, authority.keys, renamed.id);
    keyRecords(mount).write(tx, renamed.id, renamed);
    return renamed;
  });

/** Deletes a key that no issuer uses; returns warnings. An unknown one is no error. */
export const deleteKey = (
  store: Store,
  mount: MountScope,
  reference: string,
): Promise<readonly string[]> =>
  store.transact(async (tx) => {
    const authority = await loadAuthority(tx, mount);
    const defaults = await loadDefaults(tx, mount);
    const key = authority.findKey(reference);
    if (key === undefined) return [];
    const user = authority.issuers.find(({ issuer }) => issuer.keyId === key.id);
    if (user !== undefined)
      throw new KeelsonError('request.invalid', {
        text: `Failed to Delete Key.  Key in Use by Issuer: ${user.issuer.id}`,
      });
    keyRecords(mount).delete(tx, key.id);
    if (defaults.keyId !== key.id) return [];
    defaultsRecords(mount).write(tx, SETTING.defaults, { ...defaults, keyId: '' });
    return [
      `Deleted key ${key.id} (via key_ref ${reference}); this was configured as the default key.`,
    ];
  });
