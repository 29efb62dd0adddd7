/** Public keys as JSON Web Keys, and the one name that each has (RFC 7638). */

import { hash } from 'node:crypto';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** The members that make up a key, and no other. */
export const publicJwkShape = Type.Union([
  Type.Object({ kty: Type.Literal('EC'), crv: Type.String(), x: Type.String(), y: Type.String() }),
  Type.Object({ kty: Type.Literal('RSA'), n: Type.String(), e: Type.String() }),
  Type.Object({ kty: Type.Literal('OKP'), crv: Type.String(), x: Type.String() }),
]);
export type PublicJwk = Shaped<typeof publicJwkShape>;

/** RFC 7638 §3.1: members in lexicographic order. */
const canonicalText = (jwk: PublicJwk): string => {
  switch (jwk.kty) {
    case 'EC':
      return JSON.stringify({ crv: jwk.crv, kty: jwk.kty, x: jwk.x, y: jwk.y });
    case 'RSA':
      return JSON.stringify({ e: jwk.e, kty: jwk.kty, n: jwk.n });
    case 'OKP':
      return JSON.stringify({ crv: jwk.crv, kty: jwk.kty, x: jwk.x });
  }
};

/** RFC 7638 with SHA-256, base64url. */
export const thumbprintOf = (jwk: PublicJwk): string =>
  hash('sha256', canonicalText(jwk), 'buffer').toString('base64url');
