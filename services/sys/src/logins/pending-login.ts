/**
 * A login that waits for its second factor. It is sealed into the id that the client gets, so that whoever guesses
 * passwords stores nothing, and any replica can finish it. A passcode is accepted once, which limits how often an id is
 * of use.
 */

import { hasCode } from '@keelson/errors';
import { LoginRequest } from '@keelson/proto/sys/v1/logins';
import type { Barrier } from '@keelson/storage';

const PATH = 'local/pending-login';
/** Format of a pending login, which lives for minutes. One of another format is unknown. */
export const PENDING_LOGIN_FORMAT = 1;
const LIVES_MS = 5 * 60_000;
const MAX_LENGTH = 65_536;

interface Content {
  readonly format: number;
  readonly expiresAtMs: number;
  readonly requestBase64: string;
}

export const sealPendingLogin = (
  barrier: Barrier,
  request: LoginRequest,
  nowMs: number,
): string => {
  const content: Content = {
    format: PENDING_LOGIN_FORMAT,
    expiresAtMs: nowMs + LIVES_MS,
    requestBase64: Buffer.from(LoginRequest.encode(request).finish()).toString('base64'),
  };
  return Buffer.from(barrier.encrypt(PATH, Buffer.from(JSON.stringify(content)))).toString(
    'base64url',
  );
};

/** Undefined for an id that is not of this cluster, has ended, or is of another version of Keelson. */
export const openPendingLogin = (
  barrier: Barrier,
  id: string,
  nowMs: number,
): LoginRequest | undefined => {
  if (id.length > MAX_LENGTH) return undefined;
  let opened: Uint8Array;
  try {
    opened = barrier.decrypt(PATH, Buffer.from(id, 'base64url'));
  } catch (error) {
    if (hasCode(error, 'barrier.damaged_value', 'barrier.unknown_term')) return undefined;
    throw error;
  }
  const { format, expiresAtMs, requestBase64 } = JSON.parse(
    Buffer.from(opened).toString(),
  ) as Content;
  return format === PENDING_LOGIN_FORMAT && expiresAtMs > nowMs
    ? LoginRequest.decode(Buffer.from(requestBase64, 'base64'))
    : undefined;
};
