/**
 * The bundle with which a primary admits a secondary: the primary's address, the keys of the link, and the
 * key shares that apply from then on. Like a root token, it gives access to all data.
 */
import { KeelsonError } from '@keelson/errors';
import type { ShareCounts } from '../../seal/domain/share-counts.ts';

export type Kind = 'performance' | 'dr';

interface SealOfPrimary extends ShareCounts {
  /** Root key wrapped with the key that the primary's shares yield; base64. */
  readonly wrappedForShares: string;
}

export interface ActivationBundle {
  readonly kind: Kind;
  /** Software version of the primary. */
  readonly version: string;
  readonly clusterId: string;
  readonly secondaryId: string;
  readonly primaryClusterAddress: string;
  readonly primaryPublicKey: string;
  /** Absent when the secondary generated its own keys. */
  readonly secondaryKeys?: { readonly publicKey: string; readonly privateKey: string };
  readonly seal: SealOfPrimary;
  readonly expiresAtMs: number;
}

type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null;

const areText = (members: Members, names: readonly string[]): boolean =>
  names.every((name) => typeof members[name] === 'string');

const isSeal = (seal: unknown): boolean =>
  isMembers(seal) &&
  Number.isInteger(seal['shares']) &&
  Number.isInteger(seal['threshold']) &&
  areText(seal, ['wrappedForShares']);

const TEXTS = [
  'kind',
  'version',
  'clusterId',
  'secondaryId',
  'primaryClusterAddress',
  'primaryPublicKey',
];

/**
 * Validates the content of a token as the bundle of a primary, because anyone can wrap anything.
 * @throws KeelsonError `request.invalid`
 */
export const toActivationBundle = (held: unknown): ActivationBundle => {
  const isBundle =
    isMembers(held) &&
    areText(held, TEXTS) &&
    typeof held['expiresAtMs'] === 'number' &&
    isSeal(held['seal']) &&
    (held['secondaryKeys'] === undefined ||
      (isMembers(held['secondaryKeys']) &&
        areText(held['secondaryKeys'], ['publicKey', 'privateKey'])));
  if (!isBundle)
    throw new KeelsonError('request.invalid', {
      text: 'the token is not a secondary activation token',
    });
  return held as unknown as ActivationBundle;
};

/** @throws KeelsonError `request.invalid` when the bundle is for another kind, or has expired */
export const requireUsable = (
  bundle: ActivationBundle,
  here: { readonly kind: Kind; readonly nowMs: number },
): ActivationBundle => {
  const refuse = (text: string): never => {
    throw new KeelsonError('request.invalid', { text });
  };
  if (bundle.kind !== here.kind)
    refuse(`the token is for ${bundle.kind} replication, not for ${here.kind} replication`);
  if (bundle.expiresAtMs <= here.nowMs) refuse('the secondary activation token is expired');
  return bundle;
};
