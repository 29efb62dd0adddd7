/**
 * The cookie of a session of the console: the tokens of somebody who has signed in, encrypted with a key that only the
 * page stores. Scripts cannot read the cookie, so that a fault of a page shows nobody a token; the key alone opens
 * nothing; and the cookie alone opens nothing, as browsers send it to other servers on the same host (RFC 6265 §8.5).
 */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { CompactEncrypt, compactDecrypt } from 'jose';
import { bearerToken, serviceHeader } from '../request/header-names.ts';

/** The header in which the page sends its key. Pages of other sites cannot send it. */
export const SESSION_HEADER = 'x-keelson-session';

/** 32 octets in base64url. */
const KEY = /^[\w-]{43}$/;

export interface SessionTokens {
  /** A token of `/v1`. */
  readonly service?: string;
  /** A token of `/api/v2`. */
  readonly api?: string;
}

/** The key of the page; undefined if the request is not that of a page, or the key is none. */
export const sessionKeyOf = (headers: IncomingHttpHeaders): string | undefined => {
  const key = headers[SESSION_HEADER];
  return typeof key === 'string' && KEY.test(key) ? key : undefined;
};

/** The tokens that a request carries by itself. */
export const presentedTokens = (headers: IncomingHttpHeaders): SessionTokens => {
  const service = serviceHeader(headers, 'token') ?? '';
  const api = bearerToken(headers);
  return { ...(service !== '' && { service }), ...(api !== '' && { api }) };
};

/** Each page with a key has a cookie of its own, also where several installations have one host. */
const nameOf = (key: string): string =>
  `keelson-session-${createHash('sha256').update(key).digest('hex').slice(0, 16)}`;

const bytesOf = (key: string): Uint8Array => Buffer.from(key, 'base64url');

/** Strict, so that no request that another site causes carries it. It ends with the browser. */
const attributesOf = (isSecure: boolean): string =>
  `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;

/** @returns the value of `Set-Cookie` */
export const sealSession = async (
  key: string,
  tokens: SessionTokens,
  isSecure: boolean,
): Promise<string> => {
  const sealed = await new CompactEncrypt(Buffer.from(JSON.stringify(tokens)))
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
    .encrypt(bytesOf(key));
  return `${nameOf(key)}=${sealed}; ${attributesOf(isSecure)}`;
};

/** @returns the value of `Set-Cookie` that removes the cookie */
export const removeSession = (key: string, isSecure: boolean): string =>
  `${nameOf(key)}=; Max-Age=0; ${attributesOf(isSecure)}`;

/** The tokens of the cookie that the key opens; none without such a cookie. */
export const openSession = async (
  key: string,
  { cookie = '' }: IncomingHttpHeaders,
): Promise<SessionTokens> => {
  const prefix = `${nameOf(key)}=`;
  const sealed = cookie
    .split(';')
    .map((one) => one.trim())
    .find((one) => one.startsWith(prefix))
    ?.slice(prefix.length);
  if (sealed === undefined) return {};
  try {
    const { plaintext } = await compactDecrypt(sealed, bytesOf(key), {
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
    });
    return JSON.parse(Buffer.from(plaintext).toString()) as SessionTokens;
  } catch {
    return {};
  }
};
