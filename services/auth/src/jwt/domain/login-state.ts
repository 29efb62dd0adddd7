/**
 * A login through a browser is remembered in its `state`, encrypted, so that a stranger who begins logins stores
 * nothing, and any replica can finish one.
 */
import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import type { CallbackMode } from './jwt-role.ts';

/** Time between the request for the provider's address and the return of the browser. */
export const LOGIN_LASTS_MS = 5 * 60_000;

/** Longest time in which somebody types the code of a device. */
export const DEVICE_LOGIN_LASTS_MS = 15 * 60_000;

export interface LoginState {
  /** Who completes the login: the browser's program, Keelson itself, or the provider's page for devices. */
  readonly mode: CallbackMode;
  readonly role: string;
  /** Where the provider sends the browser; "" for a device. */
  readonly redirectUri: string;
  /** Where the browser goes on from there; "" if it stays. */
  readonly returnTo: string;
  /** By which the provider knows the login of a device; "" for others. */
  readonly deviceCode: string;
  /** Address of the program that began the login. */
  readonly remoteAddress: string;
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

/** @param mountUuid of the only mount that accepts the state; @param iv random */
export const sealState = (
  key: Uint8Array,
  mountUuid: string,
  state: LoginState,
  iv: Uint8Array,
): string => {
  const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(mountUuid));
  const sealed = [cipher.update(JSON.stringify(state)), cipher.final()];
  return Buffer.concat([iv, ...sealed, cipher.getAuthTag()]).toString('base64url');
};

/** @returns undefined for a state that has expired, or is not one of this mount */
export const openState = (
  key: Uint8Array,
  mountUuid: string,
  text: string,
  nowMs: number,
): LoginState | undefined => {
  const bytes = Buffer.from(text.length > MAX_LENGTH ? '' : text, 'base64url');
  if (bytes.length <= IV_BYTES + TAG_BYTES) return undefined;
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    })
      .setAAD(Buffer.from(mountUuid))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    const plain = [decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()];
    const state = JSON.parse(Buffer.concat(plain).toString()) as LoginState;
    return nowMs < state.expiresAtMs ? state : undefined;
  } catch {
    return undefined;
  }
};

/** Names a state that was used. It is taken from the content, which is the same in every spelling of the text. */
export const stateDigest = ({ nonce }: LoginState): string =>
  createHash('sha256').update(nonce).digest('hex');
