/** Key rollover (RFC 8555 §7.3.5): the new key signs a statement that it replaces the old one. */
import { type PublicJwk, thumbprintOf } from '../../../keys/domain/jwk-thumbprint.ts';
import { isSigned, parseJws, parseMembers, signedTextOf, unsigned } from '../../jws/jws.ts';
import { importPublicJwk, parsePublicJwk } from '../../jws/public-jwk.ts';
import { malformed } from '../../problems/problem.ts';

export interface KeyChangeContext {
  /** URL of the outer request. */
  readonly url: string;
  readonly accountUrl: string;
  /** Thumbprint of the account's key. */
  readonly thumbprint: string;
}

/**
 * The new key, if the inner request is complete and its signature verifies.
 * @param payload of the outer request
 * @throws AcmeProblem
 */
export const acceptKeyChange = (payload: string, context: KeyChangeContext): PublicJwk => {
  const inner = parseJws(parseMembers(payload, 'the payload'));
  const { jwk, kid, url, nonce } = inner.protectedHeader;
  if (jwk === undefined || kid !== undefined)
    throw malformed('the inner JWS must have a "jwk" and no "kid"');
  if (nonce !== undefined) throw malformed('the inner JWS must have no "nonce"');
  if (url !== context.url)
    throw malformed('the "url" of the inner JWS is not that of the outer one');
  const newKey = parsePublicJwk(jwk);
  if (!isSigned(signedTextOf(inner, newKey), importPublicJwk(newKey))) throw unsigned();
  const { account, oldKey } = parseMembers(
    Buffer.from(inner.payload).toString(),
    "the inner JWS's payload",
  );
  if (account !== context.accountUrl) throw malformed('"account" is not the account that signs');
  if (thumbprintOf(parsePublicJwk(oldKey)) !== context.thumbprint)
    throw malformed('"oldKey" must be the key of the account');
  return newKey;
};
