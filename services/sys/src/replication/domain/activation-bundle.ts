/**
 * What a primary gives a cluster that becomes its secondary: where it is, the keys of the link, and which
 * key shares hold from then on. It yields all data, like a root token.
 */
import { KeelsonError } from '@keelson/errors';
import type { ShareCounts } from '../../seal/domain/share-counts.ts';

export type Kind = 'performance' | 'dr';

export interface SealOfPrimary extends ShareCounts {
  readonly type: 'shamir' | 'static';
  /** Root key under the key of the shares (shamir), or as the primary keeps it for them; base64. */
  readonly wrappedRootKey?: string | undefined;
  /** SHA-256 of the recovery key, hex (static). */
  readonly recoveryKeyHash?: string | undefined;
}

export interface ActivationBundle {
  readonly kind: Kind;
  /** Of the primary's software. */
  readonly version: string;
  readonly clusterId: string;
  readonly secondaryId: string;
  readonly primaryClusterAddress: string;
  readonly primaryPublicKey: string;
  /** Absent when the secondary made its keys itself. */
  readonly secondaryKeys?: { readonly publicKey: string; readonly privateKey: string };
  readonly seal: SealOfPrimary;
  readonly expiresAtMs: number;
}

/** [major, minor, patch]; what is no number counts as 0. */
const numbersOf = (version: string): readonly number[] =>
  version.split(/[.+-]/, 3).map((part) => Number.parseInt(part, 10) || 0);

/** Data may flow from an older version to a newer one, never back. */
export const isOlderVersion = (version: string, than: string): boolean => {
  const [ours, theirs] = [numbersOf(version), numbersOf(than)];
  for (const [index, number] of theirs.entries()) {
    const own = ours[index] ?? 0;
    if (own !== number) return own < number;
  }
  return false;
};

/**
 * @throws KeelsonError `request.invalid` when it is not for this kind, over, or of a newer version
 */
export const requireUsable = (
  bundle: ActivationBundle,
  here: { readonly kind: Kind; readonly version: string; readonly nowMs: number },
): ActivationBundle => {
  const refuse = (text: string): never => {
    throw new KeelsonError('request.invalid', { text });
  };
  if (bundle.kind !== here.kind)
    refuse(`the token is for ${bundle.kind} replication, not for ${here.kind} replication`);
  if (bundle.expiresAtMs <= here.nowMs) refuse('the secondary activation token is expired');
  if (isOlderVersion(here.version, bundle.version))
    refuse(
      `the primary runs version ${bundle.version}, this cluster ${here.version}: upgrade the secondary first`,
    );
  return bundle;
};
