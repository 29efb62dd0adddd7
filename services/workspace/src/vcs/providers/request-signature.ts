/** Requests that are signed as OAuth 1.0a says (RFC 5849), with RSA-SHA1. */
import { randomBytes, sign } from 'node:crypto';
import { systemClock } from '@keelson/clock';
import type { RequestSigning } from '../../workspaces/model/domain/oauth-client.ts';
import type { ProviderRequest } from './provider.ts';

const NONCE_BYTES = 16;

type Parameters = Readonly<Record<string, string>>;

/** Percent-encoding of RFC 5849 §3.6, which leaves only unreserved characters. */
const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** The text that is signed (RFC 5849 §3.4.1): method, address, and all parameters in the order of their bytes. */
export const toSignatureBase = (
  { method, url }: Pick<ProviderRequest, 'method' | 'url'>,
  parameters: Parameters,
): string => {
  // The form in which the provider sees it: the host in lower case, without the port of the scheme.
  const { origin, pathname, searchParams } = new URL(url);
  const pairs = [...searchParams, ...Object.entries(parameters)]
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .toSorted(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1))
    .map((pair) => pair.join('='));
  return [method, origin + pathname, pairs.join('&')].map(encode).join('&');
};

/**
 * The header that authorizes one request.
 * @param token undefined if the request asks for one
 * @param parameters further ones of the protocol, such as `oauth_verifier`
 */
export const toAuthorization = (
  { consumerKey, privateKey }: RequestSigning,
  token: string | undefined,
  request: Pick<ProviderRequest, 'method' | 'url'>,
  parameters: Parameters = {},
): string => {
  const signed: Parameters = {
    ...parameters,
    oauth_consumer_key: consumerKey,
    oauth_nonce: randomBytes(NONCE_BYTES).toString('hex'),
    oauth_signature_method: 'RSA-SHA1',
    oauth_timestamp: String(Math.floor(systemClock.nowMs() / 1000)),
    oauth_version: '1.0',
    ...(token !== undefined && { oauth_token: token }),
  };
  const base = toSignatureBase(request, signed);
  const signature = sign('RSA-SHA1', Buffer.from(base), privateKey).toString('base64');
  const members = Object.entries({ ...signed, oauth_signature: signature });
  return `OAuth ${members.map(([name, value]) => `${name}="${encode(value)}"`).join(', ')}`;
};
