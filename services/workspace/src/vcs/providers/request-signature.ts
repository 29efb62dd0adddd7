/** Requests that are signed as OAuth 1.0a says (RFC 5849), with RSA-SHA1. */
import { randomBytes, sign } from 'node:crypto';
import OAuth from 'oauth-1.0a';
import type { RequestSigning } from '../../workspaces/model/domain/oauth-client.ts';
import type { ProviderRequest } from './provider.ts';

const NONCE_BYTES = 16;

/**
 * The header that authorizes one request.
 * @param token undefined: the request asks for one
 * @param parameters further ones of the protocol, such as `oauth_verifier`
 */
export const toAuthorization = (
  { consumerKey, privateKey }: RequestSigning,
  token: string | undefined,
  { method, url }: Pick<ProviderRequest, 'method' | 'url'>,
  parameters: Readonly<Record<string, string>> = {},
): string => {
  const oauth = new OAuth({
    consumer: { key: consumerKey, secret: '' },
    signature_method: 'RSA-SHA1',
    hash_function: (text) => sign('RSA-SHA1', Buffer.from(text), privateKey).toString('base64'),
  });
  // The library's own comes from a source that can be guessed.
  oauth.getNonce = () => randomBytes(NONCE_BYTES).toString('hex');
  // The form in which the provider sees it: the host in lower case, without the port of the scheme.
  const request = { method, url: new URL(url).href, data: { ...parameters } };
  const signed = oauth.authorize(
    request,
    token === undefined ? undefined : { key: token, secret: '' },
  );
  return oauth.toHeader(signed).Authorization;
};
