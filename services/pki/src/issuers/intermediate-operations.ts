/** Generates the key and the CSR of an intermediate; its certificate is imported later. */

import { type MountScope } from '@keelson/engine';
import type { Store } from '@keelson/storage';
import { createCsr } from '@keelson/x509';
import { type Key } from '../keys/domain/mount-keys.ts';
import { chooseKey, type KeyChoice, storeKey } from '../keys/key-operations.ts';
import { adoptDefaultKey, loadKeyRing } from '../keys/key-records.ts';
import { buildCaCsr, type CaCsrRequest } from './domain/ca-csr.ts';
import type { Authorities } from './issuer-records.ts';

export interface IntermediateParts {
  readonly store: Store;
  readonly authorities: Authorities;
}

export interface GeneratedRequest {
  readonly csrDer: Uint8Array;
  readonly key: Key;
}

/**
 * Creates a CSR and stores its key; the issuer is created when the signed certificate is imported.
 */
export const generateIntermediate = async (
  { store, authorities }: IntermediateParts,
  mount: MountScope,
  choice: KeyChoice,
  request: Omit<CaCsrRequest, 'publicKeyDer'>,
): Promise<GeneratedRequest> => {
  const { keys } = await authorities.of(mount);
  const { key, isNew, signer } = await chooseKey(store, mount, keys, choice);
  const publicKeyDer = Buffer.from(key.publicKey, 'base64');
  const csrDer = await createCsr(buildCaCsr({ ...request, publicKeyDer }), signer);
  if (isNew)
    await store.transact(async (tx) => {
      storeKey(tx, mount, await loadKeyRing(tx, mount), key);
      await adoptDefaultKey(tx, mount, [key.id]);
    });
  return { csrDer, key };
};
