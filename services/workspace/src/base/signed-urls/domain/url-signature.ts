/**
 * Signed URLs: whoever holds one may perform one action on one object until it expires. The
 * signature covers method, path and expiry, so that none of them can be changed.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Clients keep a URL for a whole run; the hosted service uses the same lifetime. */
export const SIGNED_URL_LIFETIME_SECONDS = 25 * 60 * 60;

export type SignedMethod = 'GET' | 'PUT';

export interface SignedAddress {
  readonly method: SignedMethod;
  /** Path below /api/v2. */
  readonly path: string;
  readonly expiresAtEpochSeconds: number;
}

export const signAddress = (
  key: Uint8Array,
  { method, path, expiresAtEpochSeconds }: SignedAddress,
): string =>
  createHmac('sha256', key)
    .update(`${method}\n${path}\n${expiresAtEpochSeconds}`)
    .digest('base64url');

/** Whether `signature` was made for this URL and the URL has not expired. */
export const isSignatureOf = (
  key: Uint8Array,
  address: SignedAddress,
  signature: string,
  nowMs: number,
): boolean => {
  const expected = Buffer.from(signAddress(key, address));
  const given = Buffer.from(signature);
  return (
    given.byteLength === expected.byteLength &&
    timingSafeEqual(given, expected) &&
    nowMs < address.expiresAtEpochSeconds * 1000
  );
};
