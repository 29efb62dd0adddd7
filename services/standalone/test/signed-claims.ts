/** A token for the method `jwt`, whose key is of the kind Ed25519. */
import { type KeyObject, sign } from 'node:crypto';

export const signClaims = (key: KeyObject, claims: object): string => {
  const encode = (value: object): string =>
    Buffer.from(JSON.stringify(value)).toString('base64url');
  const data = `${encode({ alg: 'EdDSA' })}.${encode(claims)}`;
  return `${data}.${sign(null, Buffer.from(data), key).toString('base64url')}`;
};
