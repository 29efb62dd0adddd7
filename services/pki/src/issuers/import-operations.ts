/** Imports certificates and keys: each is stored once, and they are associated by public key. */

import { randomUUID } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import { type MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Store, Transaction } from '@keelson/storage';
import {
  isSamePublicKey,
  type KeyPair,
  type ParsedCertificate,
  parseCertificate,
} from '@keelson/x509';
import type { ListRebuilding } from '../crl-config/list-rebuilding.ts';
import { refuseCompromisedKey } from '../keys/compromised-keys.ts';
import { type Key } from '../keys/domain/mount-keys.ts';
import { storeKey, toKey } from '../keys/key-operations.ts';
import { adoptDefaultKey } from '../keys/key-records.ts';
import { adoptAsDefault } from './default-adoption.ts';
import type { ImportBundle } from './domain/import-bundle.ts';
import { type Issuer, newIssuer } from './domain/issuer.ts';
import { issuerRecords, loadAuthority, recordIssuerChange } from './issuer-records.ts';

export interface Imported {
  readonly importedIssuerIds: readonly string[];
  readonly importedKeyIds: readonly string[];
  readonly existingIssuerIds: readonly string[];
  readonly existingKeyIds: readonly string[];
  /** Key of each issuer in the bundle; "" if there is none. */
  readonly keyIdByIssuerId: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
}

export interface ImportParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly crlBuilder: ListRebuilding;
}

interface Sorted<T> {
  readonly created: T[];
  readonly existing: T[];
}

const publicKeyOf = (key: Key): Uint8Array => Buffer.from(key.publicKey, 'base64');

const certifiedKeyOf = ({ certificate }: Issuer): Uint8Array =>
  parseCertificate(Buffer.from(certificate, 'base64')).publicKeyDer;

const sortKeys = (pairs: readonly KeyPair[], known: readonly Key[], name: string): Sorted<Key> => {
  const sorted: Sorted<Key> = { created: [], existing: [] };
  for (const pair of pairs) {
    const isSame = (key: Key): boolean => isSamePublicKey(publicKeyOf(key), pair.publicKeyDer);
    const existing = known.find(isSame);
    if (existing !== undefined) sorted.existing.push(existing);
    else if (!sorted.created.some(isSame)) sorted.created.push(toKey(pair, name));
  }
  return sorted;
};

const sortCertificates = (
  certificates: readonly ParsedCertificate[],
  known: readonly Issuer[],
  keyIdOf: (certificate: ParsedCertificate) => string,
): Sorted<Issuer> => {
  const sorted: Sorted<Issuer> = { created: [], existing: [] };
  for (const certificate of certificates) {
    const text = Buffer.from(certificate.der).toString('base64');
    const isSame = (issuer: Issuer): boolean => issuer.certificate === text;
    const existing = known.find(isSame);
    if (existing !== undefined) sorted.existing.push(existing);
    else if (!sorted.created.some(isSame))
      sorted.created.push(
        newIssuer(certificate, { id: randomUUID(), name: '', keyId: keyIdOf(certificate) }),
      );
  }
  return sorted;
};

const idsOf = (records: readonly { readonly id: string }[]): readonly string[] =>
  records.map(({ id }) => id);

/** Stores the parts of the bundle that the mount does not have yet. */
const storeBundle = async (
  tx: Transaction,
  clock: Clock,
  mount: MountScope,
  bundle: ImportBundle,
  keyName: string,
): Promise<Imported> => {
  const authority = await loadAuthority(tx, mount);
  const keys = sortKeys(bundle.keys, authority.keys.all, keyName);
  const allKeys = [...authority.keys.all, ...keys.created];
  const keyIdOf = ({ publicKeyDer }: ParsedCertificate): string =>
    allKeys.find((key) => isSamePublicKey(publicKeyOf(key), publicKeyDer))?.id ?? '';
  const before = authority.issuers.map(({ issuer, certificate }) =>
    issuer.keyId === '' ? { ...issuer, keyId: keyIdOf(certificate) } : issuer,
  );
  const completed = before.filter(
    ({ id, keyId }) => keyId !== '' && authority.requireIssuer(id).issuer.keyId === '',
  );
  const issuers = sortCertificates(bundle.certificates, before, keyIdOf);
  const newKeys = [...keys.created.map(publicKeyOf), ...issuers.created.map(certifiedKeyOf)];
  for (const publicKeyDer of newKeys) await refuseCompromisedKey(tx, mount, publicKeyDer);
  for (const key of keys.created) storeKey(tx, mount, authority.keys, key);
  for (const issuer of [...issuers.created, ...completed])
    issuerRecords(mount).write(tx, issuer.id, issuer);
  if (issuers.created.length + completed.length > 0) recordIssuerChange(tx, mount, clock);
  const warnings = await adoptAsDefault(tx, mount, {
    issuerIds: idsOf(issuers.created.filter(({ keyId }) => keyId !== '')),
    completedIssuerIds: idsOf(completed),
  });
  await adoptDefaultKey(tx, mount, idsOf(keys.created));
  return {
    importedIssuerIds: idsOf(issuers.created),
    importedKeyIds: idsOf(keys.created),
    existingIssuerIds: idsOf(issuers.existing),
    existingKeyIds: idsOf(keys.existing),
    keyIdByIssuerId: new Map(
      [...issuers.created, ...issuers.existing].map(({ id, keyId }) => [id, keyId]),
    ),
    warnings,
  };
};

/** Imports all of a bundle and builds the lists of its issuers; a list that cannot be built is a warning. */
export const importBundle = async (
  { store, crlBuilder, clock }: ImportParts,
  mount: MountScope,
  bundle: ImportBundle,
): Promise<Imported> => {
  const imported = await store.transact((tx) => storeBundle(tx, clock, mount, bundle, ''));
  if (imported.importedIssuerIds.length + imported.importedKeyIds.length === 0) return imported;
  try {
    const warnings = await crlBuilder.rebuild(mount);
    return { ...imported, warnings: [...imported.warnings, ...warnings] };
  } catch (error) {
    if (!(error instanceof KeelsonError)) throw error;
    return {
      ...imported,
      warnings: [...imported.warnings, `the lists could not be built: ${error.message}`],
    };
  }
};

/** Imports one key under a name; a key that the mount already has keeps its name. */
export const importKey = (
  { store, clock }: Pick<ImportParts, 'store' | 'clock'>,
  mount: MountScope,
  pair: KeyPair,
  name: string,
): Promise<{ readonly keyId: string; readonly isNew: boolean }> =>
  store.transact(async (tx) => {
    const bundle = { certificates: [], keys: [pair] };
    const { importedKeyIds, existingKeyIds } = await storeBundle(tx, clock, mount, bundle, name);
    const [keyId = existingKeyIds[0] ?? ''] = importedKeyIds;
    return { keyId, isNew: importedKeyIds.length > 0 };
  });
