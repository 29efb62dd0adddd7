/**
 * A login that waits for its second factor. It is sealed into the id that the client gets, so that whoever guesses
 * passwords stores nothing, and any replica can finish it. `finished-login-records.ts` has those that are finished.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { hasCode, KeelsonError } from '@keelson/errors';
import { LoginRequest } from '@keelson/proto/sys/v1/logins';
import type { Barrier } from '@keelson/storage';

const PATH = 'local/pending-login';
/** Format of a pending login, which lives for minutes. One of another format is unknown. */
export const PENDING_LOGIN_FORMAT = 2;
const LIVES_MS = 5 * 60_000;

/** Characters of an id. */
export const MAX_PENDING_LOGIN = 65_536;
/** Bytes of a login as a method reports it: the names of many groups are compressed to a fraction. */
const MAX_REQUEST = 4_194_304;

/** Bytes before the login: its format, and when it ends, in epoch milliseconds. */
const HEAD = 9;

/**
 * Makes the id of a login.
 * @throws KeelsonError `request.invalid` for a login that is too long for an id
 */
export const sealPendingLogin = (
  barrier: Barrier,
  request: LoginRequest,
  nowMs: number,
): string => {
  const head = Buffer.alloc(HEAD);
  head.writeUInt8(PENDING_LOGIN_FORMAT, 0);
  head.writeBigUInt64BE(BigInt(nowMs + LIVES_MS), 1);
  const encoded = LoginRequest.encode(request).finish();
  const sealed = barrier.encrypt(PATH, Buffer.concat([head, deflateRawSync(encoded)]));
  const id = Buffer.from(sealed).toString('base64url');
  if (id.length > MAX_PENDING_LOGIN || encoded.length > MAX_REQUEST)
    throw new KeelsonError('request.invalid', {
      text: 'the login reports too many groups or too much metadata to wait for a second factor',
    });
  return id;
};

export interface PendingLogin {
  readonly request: LoginRequest;
  readonly expiresAtMs: number;
}

/**
 * Undefined for an id that is not of this cluster, has ended, or is of another version of Keelson, and for another
 * spelling of one, which would be another id of the same login.
 */
export const openPendingLogin = (
  barrier: Barrier,
  id: string,
  nowMs: number,
): PendingLogin | undefined => {
  if (id.length > MAX_PENDING_LOGIN) return undefined;
  const sealed = Buffer.from(id, 'base64url');
  if (sealed.toString('base64url') !== id) return undefined;
  let opened: Buffer;
  try {
    opened = Buffer.from(barrier.decrypt(PATH, sealed));
  } catch (error) {
    if (hasCode(error, 'barrier.damaged_value', 'barrier.unknown_term')) return undefined;
    throw error;
  }
  if (opened.length < HEAD || opened.readUInt8(0) !== PENDING_LOGIN_FORMAT) return undefined;
  const expiresAtMs = Number(opened.readBigUInt64BE(1));
  if (expiresAtMs <= nowMs) return undefined;
  const encoded = inflateRawSync(opened.subarray(HEAD), { maxOutputLength: MAX_REQUEST });
  return { request: LoginRequest.decode(encoded), expiresAtMs };
};
