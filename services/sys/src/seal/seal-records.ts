/**
 * Records that must be readable before anything can be decrypted (node scope), and records of the seal behind
 * the barrier (local scope).
 */

import { collection, singleRecord } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { ceremonyFor } from './domain/ceremony.ts';
import { rotationConfigShape } from './domain/rotation-config.ts';
import { shareCountsShape } from './domain/share-counts.ts';
import { shareSetShape } from './domain/share-set.ts';

/** The root key wrapped for the key shares of a cluster, which a static seal calls recovery shares. */
export const shareSealShape = Type.Object({
  ...shareSetShape.properties,
  /** The root key encrypted for the key that the shares yield; base64 (`share-wrap.ts`). */
  wrappedForShares: Type.String(),
});
export type ShareSeal = Shaped<typeof shareSealShape>;

/** The part of a seal that changes with its shares. */
export const shareSealOf = ({
  shares,
  threshold,
  wrappedForShares,
  fingerprints,
}: ShareSeal): ShareSeal => ({
  shares,
  threshold,
  wrappedForShares,
  ...(fingerprints !== undefined && { fingerprints }),
});

export const sealRecordShape = Type.Union([
  Type.Object({ ...shareSealShape.properties, type: Type.Literal('shamir') }),
  Type.Object({
    ...shareSealShape.properties,
    /** A process opens the seal with a key file when it starts. */
    type: Type.Literal('static'),
    /**
     * The root key wrapped with the key in the file; base64. Several where a snapshot was restored into an
     * installation with another key file: each of them opens the seal.
     */
    wrappedForKeyFiles: Type.Array(Type.String()),
  }),
]);
export type SealRecord = Shaped<typeof sealRecordShape>;

/** The share seal of a replication set, replicated by its primary from the first start and after every rekey. */
export const shareSealRecords = singleRecord('core/share-seal', {
  scope: 'shared',
  version: 1,
  shape: shareSealShape,
});

/** Written at the end of the first start. */
export const sealRecords = singleRecord('core/seal', {
  scope: 'node',
  version: 1,
  shape: sealRecordShape,
});

/** Replaced root keys of this cluster, each wrapped with the present one; base64, the newest last. */
export const formerRootKeys = singleRecord('core/former-root-keys', {
  scope: 'node',
  version: 1,
  shape: Type.Object({ wrapped: Type.Array(Type.String()) }),
});

/** The process that is initializing the cluster; the last claim wins. */
export const initializationClaims = singleRecord('core/initializing', {
  scope: 'node',
  version: 1,
  shape: Type.Object({ nonce: Type.String() }),
});

export const clusterIdentityShape = Type.Object({ id: Type.String(), name: Type.String() });
export type ClusterIdentity = Shaped<typeof clusterIdentityShape>;
/** Identity of this cluster, not replicated: a copy of the cluster has another. */
export const clusterRecords = singleRecord('core/cluster', {
  scope: 'node',
  version: 1,
  shape: clusterIdentityShape,
});

export const rotationRecords = singleRecord('core/rotation', {
  scope: 'shared',
  version: 1,
  shape: rotationConfigShape,
});

/** Informs replicas and services that the keyring has a new term. */
export const keyringTermRecords = singleRecord('core/keyring-term', {
  scope: 'local',
  version: 1,
  shape: Type.Object({ term: Type.Number() }),
});

/** How the token of an attempt is protected on its way to the caller. */
export const tokenPurposeShape = Type.Object({
  /** "" when the token is encrypted to a PGP key. */
  password: Type.String(),
  pgpKey: Type.String(),
  pgpFingerprint: Type.String(),
});
export type TokenPurpose = Shaped<typeof tokenPurposeShape>;
/** Keys: kinds of ceremony. */
export const tokenCeremonies = collection('core/token-ceremonies', {
  scope: 'local',
  version: 1,
  shape: ceremonyFor(tokenPurposeShape),
});

export const rekeyPurposeShape = Type.Object({
  ...shareCountsShape.properties,
  pgpKeys: Type.Array(Type.String()),
  pgpFingerprints: Type.Array(Type.String()),
  backup: Type.Boolean(),
  verificationRequired: Type.Boolean(),
  /** Set once the old shares were given and the new shares await verification. */
  pending: Type.Optional(
    Type.Object({
      nonce: Type.String(),
      startedAtMs: Type.Number(),
      /** Base64 of the public half of the key that the new shares must yield. */
      key: Type.String(),
      shares: Type.Array(Type.String()),
      /** Fingerprints of the new shares. */
      fingerprints: Type.Optional(Type.Array(Type.String())),
    }),
  ),
});
export type RekeyPurpose = Shaped<typeof rekeyPurposeShape>;
/** Keys: `barrier` or `recovery`. */
export const rekeyCeremonies = collection('core/rekey', {
  scope: 'local',
  version: 1,
  shape: ceremonyFor(rekeyPurposeShape),
});

/** Shares encrypted to PGP keys, by fingerprint; hex. Keys: `barrier` or `recovery`. */
export const rekeyBackups = collection('core/rekey-backups', {
  scope: 'local',
  version: 1,
  shape: Type.Object({
    nonce: Type.String(),
    keys: Type.Record(Type.String(), Type.Array(Type.String())),
  }),
});
