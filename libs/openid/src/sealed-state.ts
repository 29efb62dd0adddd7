/**
 * A login through a browser is remembered in its `state`, encrypted, so that a stranger who begins logins stores
 * nothing, and any replica can finish one.
 */
import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';

/** Time between the request for the provider's address and the return of the browser. */
export const LOGIN_LASTS_MS = 5 * 60_000;

/** The facts that every login has; services add their own. */
export interface SealedLogin {
  /** Where the provider sends the browser; "" for a device. */
  readonly redirectUri: string;
  /** The provider puts it into the token, so that the token is of this login. */
  readonly nonce: string;
  /** Proves to the provider that the code is redeemed by whoever asked for it (RFC 7636). */
  readonly codeVerifier: string;
  /** Known only to the program that began the login; "" if it gave none. */
  readonly clientNonce: string;
  readonly expiresAtMs: number;
}

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const MAX_LENGTH = 8192;

/** @param place the only one that accepts the state, such as a mount; @param iv random */
export const sealState = (
  key: Uint8Array,
  place: string,
  state: SealedLogin,
  iv: Uint8Array,
): string => {
  const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(place));
  const sealed = [cipher.update(JSON.stringify(state)), cipher.final()];
  return Buffer.concat([iv, ...sealed, cipher.getAuthTag()]).toString('base64url');
};

/** @returns undefined for a state that has expired, or is not one of this place */
export const openState = <State extends SealedLogin>(
  key: Uint8Array,
  place: string,
  text: string,
  nowMs: number,
): State | undefined => {
  const bytes = Buffer.from(text.length > MAX_LENGTH ? '' : text, 'base64url');
  if (bytes.length <= IV_BYTES + TAG_BYTES) return undefined;
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    })
      .setAAD(Buffer.from(place))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    const plain = [decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()];
    const state = JSON.parse(Buffer.concat(plain).toString()) as State;
    return nowMs < state.expiresAtMs ? state : undefined;
  } catch {
    return undefined;
  }
};

/** Names a state that was used. It is taken from the content, which is the same in every spelling of the text. */
export const stateDigest = ({ nonce }: Pick<SealedLogin, 'nonce'>): string =>
  createHash('sha256').update(nonce).digest('hex');
