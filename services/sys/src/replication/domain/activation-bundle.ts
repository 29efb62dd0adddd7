/**
 * What a primary gives a cluster that becomes its secondary: where it is, the keys of the link, and which
 * key shares hold from then on. It yields all data, like a root token.
 */
import { KeelsonError } from '@keelson/errors';
import type { ShareCounts } from '../../seal/domain/share-counts.ts';

export type Kind = 'performance' | 'dr';

interface SealOfPrimary extends ShareCounts {
  /** Root key under the key that the shares of the primary give; base64. */
  readonly wrappedForShares: string;
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
 * What a token held, as the bundle of a primary: anybody can wrap anything.
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
      text: 'the token is no secondary activation token',
    });
  return held as unknown as ActivationBundle;
};

/**
 * @throws KeelsonError `request.invalid` when it is not for this kind, or over
 */
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
