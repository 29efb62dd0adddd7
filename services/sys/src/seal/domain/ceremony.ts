/**
 * Ceremonies, in which holders of key shares jointly authorise an operation. There is one attempt of a kind
 * at a time. Attempts need no token, and everybody sees their nonce: a share that is not one of the set is
 * refused at once, so that a stranger can neither spoil an attempt nor, in its first minutes, cancel it.
 */
import { timingSafeEqual } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { type TSchema, Type } from 'typebox';
import { judgeShare, type ShareSet } from './share-set.ts';
import { parseShare } from './share-text.ts';

const ceremonyShape = Type.Object({
  nonce: Type.String(),
  startedAtMs: Type.Number(),
  required: Type.Number(),
  /** Base64, distinct. */
  shares: Type.Array(Type.String()),
});

/** The shape of a ceremony with this purpose. */
export const ceremonyFor = <Purpose extends TSchema>(purpose: Purpose) =>
  Type.Object({ ...ceremonyShape.properties, purpose });

export type Ceremony<Purpose> = Shaped<typeof ceremonyShape> & { readonly purpose: Purpose };

/** Texts that differ between the kinds of ceremony. */
export interface CeremonyTexts {
  /** "root generation" */
  readonly name: string;
  /** "generation" */
  readonly short: string;
}

const CANCEL_GUARD_MS = 10 * 60_000;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const isSame = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
};

const bytesOf = (share: string): Uint8Array => Uint8Array.from(Buffer.from(share, 'base64'));

/** @throws KeelsonError `request.invalid` when the share is not one of the set */
export const requireNotForeign = (set: ShareSet, share: Uint8Array): void => {
  if (judgeShare(set, share) === 'foreign')
    refuse('invalid key share: this cluster has not made it, or a rekey has replaced it');
};

/** The attempt with the shares that are still valid: a rekey may have replaced the set. */
export const underSet = <Purpose>(
  ceremony: Ceremony<Purpose>,
  set: ShareSet,
): Ceremony<Purpose> => ({
  ...ceremony,
  required: set.threshold,
  shares: ceremony.shares.filter((share) => judgeShare(set, bytesOf(share)) !== 'foreign'),
});

/** The attempt whose shares did not yield the key: only those known to be of the set remain. */
export const withProvenShares = <Purpose>(
  ceremony: Ceremony<Purpose>,
  set: ShareSet,
): Ceremony<Purpose> => ({
  ...ceremony,
  shares: ceremony.shares.filter((share) => judgeShare(set, bytesOf(share)) === 'ours'),
});

/**
 * The ceremony after one more share was given.
 * @throws KeelsonError `request.invalid`; the attempt is as before
 */
export const withShare = <Purpose>(
  ceremony: Ceremony<Purpose> | undefined,
  {
    nonce,
    share,
    set,
  }: { readonly nonce: string; readonly share: Uint8Array; readonly set: ShareSet },
  { name, short }: CeremonyTexts,
): Ceremony<Purpose> => {
  if (ceremony === undefined) return refuse(`no ${name} in progress`);
  if (!isSame(nonce, ceremony.nonce)) {
    refuse(`incorrect nonce supplied for this ${name} operation`);
  }
  const encoded = Buffer.from(share).toString('base64');
  const current = underSet(ceremony, set);
  if (current.shares.some((other) => isSame(other, encoded))) {
    refuse(`given key has already been provided during this ${short} operation`);
  }
  requireNotForeign(set, share);
  return { ...current, shares: [...current.shares, encoded] };
};

export const isComplete = (ceremony: Ceremony<unknown>): boolean =>
  ceremony.shares.length >= ceremony.required;

/** The shares given so far, as bytes. */
export const sharesOf = (ceremony: Ceremony<unknown>): Uint8Array[] => ceremony.shares.map(bytesOf);

/** The nonce, share and rights with which a caller cancels an attempt. */
export interface Cancellation {
  readonly nonce: string;
  /** A key share as text; "" when none was given. */
  readonly key: string;
  readonly isSudo: boolean;
}

/** @throws KeelsonError `request.invalid` when the caller may not cancel the attempt */
export const requireCancellable = (
  ceremony: Pick<Ceremony<unknown>, 'nonce' | 'startedAtMs'>,
  { nonce, key, isSudo }: Cancellation,
  { set, nowMs }: { readonly set: ShareSet; readonly nowMs: number },
): void => {
  // A given nonce or share must be right, also where none is needed: the caller may mean another attempt.
  if (nonce !== '' && !isSame(nonce, ceremony.nonce)) refuse('invalid nonce');
  const share = key === '' ? undefined : parseShare(key);
  if (share !== undefined) requireNotForeign(set, share);
  if (isSudo || nowMs - ceremony.startedAtMs >= CANCEL_GUARD_MS) return;
  if (nonce === '' || share === undefined)
    return refuse(
      'nonce and key (one of the key shares) are required to cancel within 10 minutes of the start of the attempt, or a token with sudo',
    );
  if (judgeShare(set, share) === 'unknown')
    refuse(
      'this key share cannot be verified until a ceremony has succeeded with it: a token with sudo can cancel the attempt now, and anybody 10 minutes after its start',
    );
};
