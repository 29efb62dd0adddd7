/**
 * Records that must be readable before anything can be decrypted (node scope), and records of the seal behind
 * the barrier (local scope).
 */
import { jsonRecords } from '@keelson/storage';
import type { Ceremony } from './domain/ceremony.ts';
import type { RotationConfig } from './domain/rotation-config.ts';
import type { ShareCounts } from './domain/share-counts.ts';
import type { ShareSet } from './domain/share-set.ts';

/** The root key wrapped for the key shares of a cluster, which a static seal calls recovery shares. */
export interface ShareSeal extends ShareSet {
  /** The root key wrapped with the key that the shares yield; base64. */
  readonly wrappedForShares: string;
}

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

export type SealRecord = ShareSeal &
  (
    | { readonly type: 'shamir' }
    | {
        /** A process opens the seal with a key file when it starts. */
        readonly type: 'static';
        /**
         * The root key wrapped with the key in the file; base64. Several where a snapshot was restored into an
         * installation with another key file: each of them opens the seal.
         */
        readonly wrappedForKeyFiles: readonly string[];
      }
  );

/** The share seal of a replication set, replicated by its primary from the first start and after every rekey. */
export const shareSealRecords = jsonRecords<ShareSeal>('shared/core/');
export const SHARE_SEAL_KEY = 'share-seal';

/** Written at the end of the first start. */
export const sealRecords = jsonRecords<SealRecord>('node/core/');
export const SEAL_KEY = 'seal';

/** The process that is initializing the cluster; the last claim wins. */
export const initializationClaims = jsonRecords<{ readonly nonce: string }>('node/core/');
export const CLAIM_KEY = 'initializing';

export interface ClusterIdentity {
  readonly id: string;
  readonly name: string;
}
/** Identity of this cluster, not replicated: a copy of the cluster has another. */
export const clusterRecords = jsonRecords<ClusterIdentity>('node/core/');
export const CLUSTER_KEY = 'cluster';

export const rotationRecords = jsonRecords<RotationConfig>('shared/core/');
export const ROTATION_KEY = 'rotation';

/** Informs replicas and services that the keyring has a new term. */
export const keyringTermRecords = jsonRecords<{ readonly term: number }>('local/core/');
export const KEYRING_TERM_KEY = 'keyring-term';

/** How the token of an attempt is protected on its way to the caller. */
export interface TokenPurpose {
  /** "" when the token is encrypted to a PGP key. */
  readonly password: string;
  readonly pgpKey: string;
  readonly pgpFingerprint: string;
}
/** Keys: kinds of ceremony. */
export const tokenCeremonies = jsonRecords<Ceremony<TokenPurpose>>('local/core/token-ceremonies/');

export interface RekeyPurpose extends ShareCounts {
  readonly pgpKeys: readonly string[];
  readonly pgpFingerprints: readonly string[];
  readonly backup: boolean;
  readonly verificationRequired: boolean;
  /** Set once the old shares were given and the new shares await verification. */
  readonly pending?: {
    readonly nonce: string;
    readonly startedAtMs: number;
    /** Base64 of the new key that the new shares must yield. */
    readonly key: string;
    readonly shares: readonly string[];
    /** Fingerprints of the new shares. */
    readonly fingerprints?: readonly string[];
  };
}
/** Keys: `barrier` or `recovery`. */
export const rekeyCeremonies = jsonRecords<Ceremony<RekeyPurpose>>('local/core/rekey/');

/** Shares encrypted to PGP keys, by fingerprint; hex. Keys: `barrier` or `recovery`. */
export const rekeyBackups = jsonRecords<{
  readonly nonce: string;
  readonly keys: Readonly<Record<string, readonly string[]>>;
}>('local/core/rekey-backups/');
