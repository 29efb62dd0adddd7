/** Making the key and the request of an intermediate; its certificate comes back as an import. */
import type { Store } from '@keelson/storage';
import { createCsr } from '@keelson/x509';
import { chooseKey, type KeyChoice, storeKey } from '../keys/key-operations.ts';
import type { MountScope } from '../mounts/mount-records.ts';
import { adoptAsDefault } from './default-adoption.ts';
import type { Key } from './domain/authority.ts';
import { buildCaCsr, type CaCsrRequest } from './domain/ca-csr.ts';
import { type Authorities, loadAuthority } from './issuer-records.ts';

export interface IntermediateParts {
  readonly store: Store;
  readonly authorities: Authorities;
}

export interface GeneratedRequest {
  readonly csrDer: Uint8Array;
  readonly key: Key;
}

/** Makes a request and stores its key; no issuer comes of it yet. */
export const generateIntermediate = async (
  { store, authorities }: IntermediateParts,
  mount: MountScope,
  choice: KeyChoice,
  request: Omit<CaCsrRequest, 'publicKeyDer'>,
): Promise<GeneratedRequest> => {
  const { key, isNew, signer } = await chooseKey(await authorities.of(mount), choice);
  const publicKeyDer = Buffer.from(key.publicKey, 'base64');
  const csrDer = await createCsr(buildCaCsr({ ...request, publicKeyDer }), signer);
  if (isNew)
    await store.transact(async (tx) => {
      storeKey(tx, mount, await loadAuthority(tx, mount), key);
      await adoptAsDefault(tx, mount, { keyIds: [key.id] });
    });
  return { csrDer, key };
};
