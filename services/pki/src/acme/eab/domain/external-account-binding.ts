/**
 * External account binding (RFC 8555 §7.3.4): a MAC over the account's public key, under a key
 * issued beforehand.
 */

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { thumbprintOf } from '../../../keys/domain/jwk-thumbprint.ts';
import { isMembers, type ParsedJws, parseJws, parseMembers } from '../../jws/jws.ts';
import { parsePublicJwk } from '../../jws/public-jwk.ts';
import { AcmeProblem, malformed } from '../../problems/problem.ts';

/** The caller of new-eab, who requested the binding. */
export const boundIdentityShape = Type.Object({
  entityId: Type.String(),
  displayName: Type.String(),
  metadata: Type.Record(Type.String(), Type.String()),
});
export type BoundIdentity = Shaped<typeof boundIdentityShape>;

const MACS: Readonly<Record<string, string>> = {
  HS256: 'sha256',
  HS384: 'sha384',
  HS512: 'sha512',
};

/** A binding whose MAC has not been verified. */
export interface PresentedBinding {
  readonly keyId: string;
  readonly hash: string;
  readonly jws: ParsedJws;
}

const refuse = (): never => {
  throw new AcmeProblem('unauthorized', 'the external account binding does not verify');
};

/**
 * @param newAccountUrl of this directory
 * @param thumbprint of the key that signs the request
 * @throws AcmeProblem `malformed`, `badSignatureAlgorithm`, `unauthorized`
 */
export const parseBinding = (
  raw: unknown,
  newAccountUrl: string,
  thumbprint: string,
): PresentedBinding => {
  if (!isMembers(raw)) throw malformed('"externalAccountBinding" must be a JWS');
  const jws = parseJws(raw);
  const { alg, kid, url, nonce } = jws.protectedHeader;
  if (typeof alg !== 'string' || !Object.hasOwn(MACS, alg))
    throw new AcmeProblem('badSignatureAlgorithm', 'a binding is signed with a MAC', {
      algorithms: Object.keys(MACS),
    });
  if (typeof kid !== 'string' || kid === '') throw malformed('the binding lacks a "kid"');
  if (nonce !== undefined) throw malformed('the binding must have no "nonce"');
  if (url !== newAccountUrl)
    throw new AcmeProblem('unauthorized', 'the "url" of the binding is not that of this request');
  const bound = parsePublicJwk(
    parseMembers(Buffer.from(jws.payload).toString(), "the binding's payload"),
  );
  if (thumbprintOf(bound) !== thumbprint)
    throw malformed('the binding is for another key than the one that signs the request');
  return { keyId: kid, hash: MACS[alg] as string, jws };
};

/** @throws AcmeProblem `unauthorized` */
export const requireMac = ({ hash, jws }: PresentedBinding, macKey: Uint8Array): void => {
  const expected = createHmac(hash, macKey)
    .update(`${jws.protectedText}.${jws.payloadText}`)
    .digest();
  const isEqual =
    expected.byteLength === jws.signature.byteLength && timingSafeEqual(expected, jws.signature);
  if (!isEqual) refuse();
};

/**
 * The same refusal for a key that is unknown, used, or of another directory, so that a client
 * cannot distinguish them.
 */
export const unknownBinding = refuse;
