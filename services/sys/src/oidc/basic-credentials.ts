/**
 * Name and password of Basic authentication (RFC 7617), which the gateway passes on for the paths that ask for it, in a
 * header that a client cannot set.
 */
import type { RequestHead } from '@keelson/proto/edge/v1/edge';

const PRESENTED_CREDENTIALS_HEADER = 'x-presented-credentials';
const MAX_LENGTH = 4096;

export interface BasicCredentials {
  readonly name: string;
  readonly password: string;
}

/** RFC 6749 §2.3.1: both are encoded like the values of a form. */
const decode = (part: string): string => {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '));
  } catch {
    return part;
  }
};

/** Undefined if the request has none. */
export const presentedCredentials = ({ headers }: RequestHead): BasicCredentials | undefined => {
  const given = headers[PRESENTED_CREDENTIALS_HEADER] ?? '';
  if (given === '' || given.length > MAX_LENGTH) return undefined;
  const [name = '', ...password] = Buffer.from(given, 'base64').toString().split(':');
  return { name: decode(name), password: decode(password.join(':')) };
};
