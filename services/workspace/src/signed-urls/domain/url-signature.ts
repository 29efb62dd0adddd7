/**
 * Addresses that are their own credential: who holds one may do one thing with one object until it
 * expires. The signature covers the method, the path and the time, so none of them can be exchanged.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Clients keep addresses over a whole run; the hosted service grants as long. */
export const SIGNED_URL_LIFETIME_SECONDS = 25 * 60 * 60;

export type SignedMethod = 'GET' | 'PUT';

export interface SignedAddress {
  readonly method: SignedMethod;
  /** Below /api/v2. */
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

/** Whether `signature` was made for this address, and the address still holds. */
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
