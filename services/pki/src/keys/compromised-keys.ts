/**
 * Keys of certificates that were revoked as compromised. Others who have such a key could use anything
 * created for it, so that it gets no further certificate or ACME account. The records are kept for ever, in
 * the cluster that made the revocation.
 */

import { createHash, createPublicKey } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import {
  deriveView,
  jsonRecords,
  type Reads,
  type Store,
  type Transaction,
} from '@keelson/storage';
import { REVOCATION_REASON, type RevocationReason } from '@keelson/x509';
import { localPrefix, type MountScope } from '../mounts/mount-records.ts';
import { type PublicJwk, thumbprintOf } from './domain/jwk-thumbprint.ts';

/** By fingerprint. */
const records = (mount: MountScope) =>
  jsonRecords<{ readonly revokedAtMs: number }>(`${localPrefix(mount)}compromised-keys/`);

/**
 * The RFC 7638 thumbprint, which is unique for a key and identifies ACME accounts; for keys without a JWK, a
 * digest of their encoding.
 */
const fingerprintOf = (publicKeyDer: Uint8Array): string => {
  const key = createPublicKey({ key: Buffer.from(publicKeyDer), format: 'der', type: 'spki' });
  try {
    return thumbprintOf(key.export({ format: 'jwk' }) as PublicJwk);
  } catch {
    // A curve that RFC 7518 does not name.
    return createHash('sha256').update(publicKeyDer).digest('base64url');
  }
};

/** Records the key of a revoked certificate if the reason is a compromise. */
export const noteCompromise = (
  tx: Transaction,
  mount: MountScope,
  publicKeyDer: Uint8Array,
  { reason, revokedAtMs }: { readonly reason: RevocationReason | undefined; revokedAtMs: number },
): void => {
  if (reason === REVOCATION_REASON.keyCompromise)
    records(mount).write(tx, fingerprintOf(publicKeyDer), { revokedAtMs });
};

/** @param thumbprint RFC 7638 */
export const isCompromisedKey = async (
  reads: Reads,
  mount: MountScope,
  thumbprint: string,
): Promise<boolean> => (await records(mount).find(reads, thumbprint)) !== undefined;

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
    const prefix = records(mount).path('');
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
      if (!(await hasAny(mount))) return;
      if (await isCompromisedKey(store, mount, fingerprintOf(publicKeyOf())))
        throw new KeelsonError('request.invalid', {
          text: 'the key is that of a certificate that was revoked because it is compromised',
        });
    },
  };
};
