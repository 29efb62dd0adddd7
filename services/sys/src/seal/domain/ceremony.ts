/**
 * Ceremonies, in which holders of key shares jointly authorise an operation. There is one attempt of a kind
 * at a time. Attempts need no token, so the nonce is shown only to the caller who started the attempt and to
 * tokens with sudo (docs/divergences/sys.md): with the nonce, a stranger could cancel the attempt, or submit
 * false shares that invalidate those of the holders.
 */
import { timingSafeEqual } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';

export interface Ceremony<Purpose> {
  readonly nonce: string;
  readonly startedAtMs: number;
  readonly required: number;
  readonly purpose: Purpose;
  /** Base64, distinct. */
  readonly shares: readonly string[];
}

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

/** The ceremony after one more share was given. */
export const withShare = <Purpose>(
  ceremony: Ceremony<Purpose> | undefined,
  nonce: string,
  share: Uint8Array,
  { name, short }: CeremonyTexts,
): Ceremony<Purpose> => {
  if (ceremony === undefined) return refuse(`no ${name} in progress`);
  if (!isSame(nonce, ceremony.nonce)) {
    refuse(`incorrect nonce supplied for this ${name} operation`);
  }
  const encoded = Buffer.from(share).toString('base64');
  if (ceremony.shares.some((other) => isSame(other, encoded))) {
    refuse(`given key has already been provided during this ${short} operation`);
  }
  return { ...ceremony, shares: [...ceremony.shares, encoded] };
};

export const isComplete = (ceremony: Ceremony<unknown>): boolean =>
  ceremony.shares.length >= ceremony.required;

/** The shares given so far, as bytes. */
export const sharesOf = (ceremony: Ceremony<unknown>): Uint8Array[] =>
  ceremony.shares.map((share) => Uint8Array.from(Buffer.from(share, 'base64')));

/** @throws KeelsonError `request.invalid` when the caller may not cancel the attempt */
export const requireCancellable = (
  ceremony: Pick<Ceremony<unknown>, 'nonce' | 'startedAtMs'>,
  by: { readonly nonce: string; readonly isSudo: boolean; readonly nowMs: number },
): void => {
  if (by.isSudo || isSame(by.nonce, ceremony.nonce)) return;
  if (by.nowMs - ceremony.startedAtMs >= CANCEL_GUARD_MS) return;
  refuse(
    by.nonce === ''
      ? 'nonce is required to cancel within 10 minutes of the start of the attempt'
      : 'invalid nonce',
  );
};
