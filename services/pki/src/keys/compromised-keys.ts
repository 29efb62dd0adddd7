/**
 * Keys of certificates that were revoked as compromised. Others who have such a key could use anything
 * created for it, so that it is banned: it gets no further certificate, issuer or ACME account. A ban stays until
 * an operator lifts it, in the cluster that made the revocation.
 */

import { createHash, createPublicKey } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import {
  deriveView,
  jsonRecords,
  type Reads,
  type RecordCollection,
  type Store,
  type Transaction,
} from '@keelson/storage';
import { localPrefix, type MountScope } from '../mounts/mount-records.ts';
import { type PublicJwk, thumbprintOf } from './domain/jwk-thumbprint.ts';

/** The ban of a key. */
export interface CompromisedKey {
  readonly bannedAtMs: number;
  /** The certificate whose revocation banned the key: its serial number as in record paths. */
  readonly serialKey: string;
}

/** By fingerprint. */
export const compromisedKeyRecords = (mount: MountScope): RecordCollection<CompromisedKey> =>
  jsonRecords(`${localPrefix(mount)}compromised-keys/`);

/**
 * The RFC 7638 thumbprint, which is unique for a key and identifies ACME accounts; for keys without a JWK, a
 * digest of their encoding.
 */
const fingerprintOf = (publicKeyDer: Uint8Array): string => {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKeyDer), format: 'der', type: 'spki' });
    return thumbprintOf(key.export({ format: 'jwk' }) as PublicJwk);
  } catch {
    // A curve that RFC 7518 does not name, or an algorithm that this platform does not know.
    return createHash('sha256').update(publicKeyDer).digest('base64url');
  }
};

/** Bans the key of a certificate; an earlier ban stays. */
export const banKey = async (
  tx: Transaction,
  mount: MountScope,
  publicKeyDer: Uint8Array,
  ban: CompromisedKey,
): Promise<void> => {
  const records = compromisedKeyRecords(mount);
  const fingerprint = fingerprintOf(publicKeyDer);
  if ((await records.find(tx, fingerprint)) === undefined) records.write(tx, fingerprint, ban);
};

/**
 * Lifts the ban of a key; the revocation of its certificate stays.
 * @throws KeelsonError `pki.key_not_found`
 */
export const liftBan = (store: Store, mount: MountScope, fingerprint: string): Promise<void> =>
  store.transact(async (tx) => {
    const records = compromisedKeyRecords(mount);
    if ((await records.find(tx, fingerprint)) === undefined)
      throw new KeelsonError('pki.key_not_found', { reference: fingerprint });
    records.delete(tx, fingerprint);
  });

/** @param thumbprint RFC 7638 */
export const isCompromisedKey = async (
  reads: Reads,
  mount: MountScope,
  thumbprint: string,
): Promise<boolean> => (await compromisedKeyRecords(mount).find(reads, thumbprint)) !== undefined;

/** @throws KeelsonError `request.invalid` for a banned key */
export const refuseCompromisedKey = async (
  reads: Reads,
  mount: MountScope,
  publicKeyDer: Uint8Array,
): Promise<void> => {
  if (await isCompromisedKey(reads, mount, fingerprintOf(publicKeyDer)))
    throw new KeelsonError('request.invalid', {
      text: 'the key is that of a certificate that was revoked because it is compromised',
    });
};

export interface CompromisedKeys {
  /**
   * @param publicKeyOf asked only where the mount has compromised keys at all
   * @throws KeelsonError `request.invalid`
   */
  refuse(mount: MountScope, publicKeyOf: () => Uint8Array): Promise<void>;
}

export const createCompromisedKeys = (store: Store): CompromisedKeys => {
  /** Whether a mount has any: most have none, and are asked for every certificate. */
  const views = new Map<string, () => Promise<boolean>>();
  const hasAny = (mount: MountScope): Promise<boolean> => {
    const { prefix } = compromisedKeyRecords(mount);
    let view = views.get(prefix);
    if (view === undefined) {
      view = deriveView(
        store,
        [prefix],
        async (reads) => (await reads.scan(prefix, { limit: 1 })).length > 0,
      );
      views.set(prefix, view);
    }
    return view();
  };
  return {
    refuse: async (mount, publicKeyOf) => {
      if (await hasAny(mount)) await refuseCompromisedKey(store, mount, publicKeyOf());
    },
  };
};
