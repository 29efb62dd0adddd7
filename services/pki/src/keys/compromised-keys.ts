/**
 * Keys of certificates that were revoked as compromised. Others who have such a key could use anything
 * created for it, so that it is banned in all clusters of the mount: it gets no further certificate, issuer or ACME
 * account. A ban stays until an operator lifts it.
 */

import { createHash, createPublicKey } from 'node:crypto';
import { localRecords, type MountScope, sharedRecords } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import { deriveView, type Reads, type Store } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { type PublicJwk, thumbprintOf } from './domain/jwk-thumbprint.ts';

/** The ban of a key. */
export const compromisedKeyShape = Type.Object({
  bannedAtMs: Type.Number(),
  /** The certificate whose revocation banned the key: its serial number as in record paths. */
  serialKey: Type.String(),
});
export type CompromisedKey = Shaped<typeof compromisedKeyShape>;

/**
 * Bans that this cluster made, by fingerprint. They hold at once, and whether or not the primary cluster can be
 * reached.
 */
export const ownBanRecords = localRecords('compromised-keys', {
  version: 1,
  shape: compromisedKeyShape,
});

/** Bans of all clusters, each under its own id: `<fingerprint>/<id of the cluster>`. */
export const clusterBanRecords = sharedRecords('banned-keys', {
  version: 1,
  shape: compromisedKeyShape,
});

/** Lifts the bans of a key that were made until then. */
export const liftedBanShape = Type.Object({ liftedAtMs: Type.Number() });

/** By fingerprint; the same in all clusters. */
export const liftedBanRecords = sharedRecords('lifted-bans', { version: 1, shape: liftedBanShape });

/**
 * The RFC 7638 thumbprint, which is unique for a key and identifies ACME accounts; for keys without a JWK, a
 * digest of their encoding.
 */
export const fingerprintOf = (publicKeyDer: Uint8Array): string => {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKeyDer), format: 'der', type: 'spki' });
    return thumbprintOf(key.export({ format: 'jwk' }) as PublicJwk);
  } catch {
    // A curve that RFC 7518 does not name, or an algorithm that this platform does not know.
    return createHash('sha256').update(publicKeyDer).digest('base64url');
  }
};

/** All bans of a key that were not lifted, from the newest to the oldest. */
const bansOf = async (
  reads: Reads,
  mount: MountScope,
  fingerprint: string,
): Promise<readonly CompromisedKey[]> => {
  const own = await ownBanRecords(mount).find(reads, fingerprint);
  const ofClusters = clusterBanRecords(mount).below(fingerprint);
  const all = (await ofClusters.entries(reads)).map(([, ban]) => ban);
  if (own !== undefined) all.push(own);
  const lifted =
    all.length > 0 ? await liftedBanRecords(mount).find(reads, fingerprint) : undefined;
  return all
    .filter(({ bannedAtMs }) => bannedAtMs > (lifted?.liftedAtMs ?? Number.NEGATIVE_INFINITY))
    .sort((one, other) => other.bannedAtMs - one.bannedAtMs);
};

/** The ban of a key; undefined if it is not banned. */
export const findBan = async (
  reads: Reads,
  mount: MountScope,
  fingerprint: string,
): Promise<CompromisedKey | undefined> => (await bansOf(reads, mount, fingerprint))[0];

/** Banned keys by fingerprint, in ascending order. */
export const listBans = async (
  reads: Reads,
  mount: MountScope,
): Promise<readonly (readonly [string, CompromisedKey])[]> => {
  const own = await ownBanRecords(mount).keys(reads);
  const ofClusters = await clusterBanRecords(mount).keys(reads);
  const fingerprints = new Set([...own, ...ofClusters.map((name) => name.replace(/\/.*/, ''))]);
  const found: (readonly [string, CompromisedKey])[] = [];
  for (const fingerprint of [...fingerprints].sort()) {
    const ban = await findBan(reads, mount, fingerprint);
    if (ban !== undefined) found.push([fingerprint, ban]);
  }
  return found;
};

/** @param thumbprint RFC 7638 */
export const isCompromisedKey = async (
  reads: Reads,
  mount: MountScope,
  thumbprint: string,
): Promise<boolean> => (await findBan(reads, mount, thumbprint)) !== undefined;

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
    const prefixes = [ownBanRecords(mount).prefix, clusterBanRecords(mount).prefix];
    let view = views.get(mount.uuid);
    if (view === undefined) {
      view = deriveView(store, prefixes, async (reads) => {
        for (const prefix of prefixes)
          if ((await reads.scan(prefix, { limit: 1 })).length > 0) return true;
        return false;
      });
      views.set(mount.uuid, view);
    }
    return view();
  };
  return {
    refuse: async (mount, publicKeyOf) => {
      if (await hasAny(mount)) await refuseCompromisedKey(store, mount, publicKeyOf());
    },
  };
};
